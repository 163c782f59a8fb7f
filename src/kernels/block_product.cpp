#include "kernels/block_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/group_panel-inl.hpp"
#include "kernels/isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

template <class Dot>
void multiply_with(const BlockCall& call, size_t first, size_t last) {
  switch (call.weights.format()) {
    case quant::TiledBlocks::q4_1: return multiply<Q4_1Groups<Dot>>(call, first, last);
    case quant::TiledBlocks::q4_k: return multiply<Q4_KGroups<Dot>>(call, first, last);
    case quant::TiledBlocks::q6_k: return multiply<Q6_KGroups<Dot>>(call, first, last);
  }
}

void block_product_for_target(const BlockCall& call, size_t first, size_t last) {
#if HWY_TARGET == HWY_AVX2
  if (avx_vnni_chosen()) return multiply_with<QuadDot>(call, first, last);
#endif
  multiply_with<BestDot>(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(block_product_for_target);

void block_product(const BlockCall& call, size_t first_panel, size_t last_panel) {
  HWY_DYNAMIC_DISPATCH(block_product_for_target)(call, first_panel, last_panel);
}

}  // namespace trilobite::kernels
#endif
