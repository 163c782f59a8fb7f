#include "kernels/group_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/group_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/group_panel-inl.hpp"
#include "kernels/isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

template <class Dot>
void multiply_with(const GroupCall& call, size_t first, size_t last) {
  switch (call.weights.bits()) {
    case quant::GroupBits::four: return multiply<ScaledGroups<FourBits<Dot>>>(call, first, last);
    case quant::GroupBits::six: return multiply<ScaledGroups<SixBits<Dot>>>(call, first, last);
    case quant::GroupBits::eight: return multiply<ScaledGroups<EightBits<Dot>>>(call, first, last);
  }
}

void group_product_for_target(const GroupCall& call, size_t first, size_t last) {
#if HWY_TARGET == HWY_AVX2
  if (avx_vnni_chosen()) return multiply_with<QuadDot>(call, first, last);
#endif
  multiply_with<BestDot>(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(group_product_for_target);

void group_product(const GroupCall& call, size_t first_panel, size_t last_panel) {
  HWY_DYNAMIC_DISPATCH(group_product_for_target)(call, first_panel, last_panel);
}

}  // namespace trilobite::kernels
#endif
