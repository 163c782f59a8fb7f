// exp and erfc on vectors of f32 for one Highway target: included once per target.

#if defined(TRILOBITE_KERNELS_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_EXP_INL_HPP
#undef TRILOBITE_KERNELS_EXP_INL_HPP
#else
#define TRILOBITE_KERNELS_EXP_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Highway's Exp (1 ulp), which is defined up to 104 only and turns NaN into 0.
HWY_INLINE VF32 exp_f32(VF32 x) {
  const F32 d;
  const auto in_range = hn::Min(x, hn::Set(d, 104.0f));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, in_range));
}

/// erfc(z) for z >= 0: t exp(-z^2) P(t) with t = 1 / (1 + 0.35 z). P interpolates
/// exp(z^2) erfc(z) / t at the Chebyshev nodes of z in [0, 10], relative error 1e-8; beyond,
/// erfc is zero in f32. What remains is the rounding of z^2: relative error <= 1e-7 (2 + z^2).
HWY_INLINE VF32 erfc_positive(VF32 z) {
  const F32 d;
  const auto one = hn::Set(d, 1.0f);
  const auto t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.35f), one));
  constexpr float kP[] = {0.0366547281f, -0.149543536f, 0.159641218f, 0.00104560933f, 0.063405114f,
                          0.158554688f,  0.146915782f,  0.188806398f, 0.197030738f,   0.197489266f};
  auto p = hn::Set(d, kP[0]);
  for (size_t i = 1; i < 10; ++i) p = hn::MulAdd(p, t, hn::Set(d, kP[i]));
  return hn::Mul(hn::Mul(t, p), exp_f32(hn::Neg(hn::Mul(z, z))));
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
