#include "kernels/randn.hpp"

#include <algorithm>
#include <array>

#include "base/rng.hpp"

namespace trilobite::kernels {

void randn(const RandnCall& call) {
  for (size_t i = 0; i < call.count; i += 4) {
    const auto words = philox(call.seed, call.stream, (call.first + i) / 4);
    const size_t end = std::min(call.count, i + 4);
    for (size_t j = i; j < end; ++j) call.out[j] = normal_from_bits(words[j - i]);
  }
}

}  // namespace trilobite::kernels
