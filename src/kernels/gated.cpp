#include "kernels/gated.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gated.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

struct Silu {
  HWY_INLINE VF32 operator()(VF32 x) const {
    const auto one = hn::Set(F32(), 1.0f);
    return hn::Div(x, hn::Add(one, exp_f32(hn::Neg(x))));
  }
};

struct ReluSquared {
  // Compare and select, for Max may drop NaN.
  HWY_INLINE VF32 operator()(VF32 x) const {
    const auto positive = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(F32())), x);
    return hn::Mul(positive, positive);
  }
};

template <class Op>
void apply(const GatedCall& call, Op op) {
  size_t i = 0;
  for (; i + kLanes <= call.count; i += kLanes)
    store(hn::Mul(op(load(call.gate + i)), load(call.up + i)), call.out + i);
  if (i < call.count) {
    const size_t rest = call.count - i;
    const auto value = hn::Mul(op(load_some(call.gate + i, rest)), load_some(call.up + i, rest));
    store_some(value, call.out + i, rest);
  }
}

void gated_for_target(const GatedCall& call) {
  if (call.gate_op == Gate::silu) return apply(call, Silu());
  apply(call, ReluSquared());
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(gated_for_target);

void gated(const GatedCall& call) { HWY_DYNAMIC_DISPATCH(gated_for_target)(call); }

}  // namespace trilobite::kernels
#endif
