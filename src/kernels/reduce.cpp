#include "kernels/reduce.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

template <typename T>
struct Elements {
  const T* x;
  HWY_INLINE VF32 full(size_t i) const { return load(x + i); }
  HWY_INLINE VF32 some(size_t i, size_t n) const { return load_some(x + i, n); }
};

struct SumBlocksBody {
  const SumBlocksCall& call;
  template <typename T>
  void run() const {
    const Elements<T> elements{static_cast<const T*>(call.x)};
    double* out = call.block_sums;
    for (size_t begin = 0; begin < call.count; begin += kSumBlock) {
      const size_t end = std::min(call.count, begin + kSumBlock);
      *out++ = static_cast<double>(sum_block(elements, begin, end));
    }
  }
};

void sum_blocks_for_target(const SumBlocksCall& call) {
  with_float_type(call.dtype, SumBlocksBody{call});
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(sum_blocks_for_target);

void sum_blocks(const SumBlocksCall& call) { HWY_DYNAMIC_DISPATCH(sum_blocks_for_target)(call); }

}  // namespace trilobite::kernels
#endif
