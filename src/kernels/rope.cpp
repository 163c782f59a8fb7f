#include "kernels/rope.hpp"

namespace trilobite::kernels {

// Plain loops, which the compiler turns into vectors: a thousandth of a token's work.
void rope(const RopeCall& call) {
  const size_t pairs = call.cosines.size();
  const size_t step = call.pairs == RopePairs::neighbours ? 2 : 1;
  const size_t apart = call.pairs == RopePairs::neighbours ? 1 : pairs;
  for (size_t head = 0; head < call.heads; ++head) {
    float* x = call.x + head * call.head_size;
    for (size_t i = 0; i < pairs; ++i) {
      const float a = x[i * step];
      const float b = x[i * step + apart];
      x[i * step] = a * call.cosines[i] - b * call.sines[i];
      x[i * step + apart] = a * call.sines[i] + b * call.cosines[i];
    }
  }
}

}  // namespace trilobite::kernels
