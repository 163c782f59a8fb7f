#include "kernels/absmax.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/absmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using I32 = hn::Rebind<int32_t, F32>;
using I8 = hn::Rebind<int8_t, F32>;

/// The largest magnitude, as the bits of a float: they are ordered as the floats are, and NaN and
/// infinity come out on top.
HWY_INLINE hn::Vec<I32> magnitude_bits(VF32 v) { return hn::BitCast(I32(), hn::Abs(v)); }

int32_t largest_magnitude_bits(const float* x, size_t count) {
  const I32 d;
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = hn::Max(a, magnitude_bits(load(x + i)));
    b = hn::Max(b, magnitude_bits(load(x + i + kLanes)));
    c = hn::Max(c, magnitude_bits(load(x + i + 2 * kLanes)));
    e = hn::Max(e, magnitude_bits(load(x + i + 3 * kLanes)));
  }
  for (; i + kLanes <= count; i += kLanes) a = hn::Max(a, magnitude_bits(load(x + i)));
  if (i < count) b = hn::Max(b, magnitude_bits(load_some(x + i, count - i)));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(a, b), hn::Max(c, e))));
}

/// Returns the sum of the codes.
int32_t round_codes(const AbsmaxCall& call, float factor) {
  const I32 d;
  const auto factors = hn::Set(F32(), factor);
  auto sums = hn::Zero(d);
  size_t i = 0;
  for (; i + kLanes <= call.columns; i += kLanes) {
    const auto rounded = hn::NearestInt(hn::Mul(load(call.x + i), factors));
    sums = hn::Add(sums, rounded);
    hn::StoreU(hn::DemoteTo(I8(), rounded), I8(), call.codes + i);
  }
  int32_t sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < call.columns; ++i) {
    const auto rounded = static_cast<int32_t>(std::nearbyint(call.x[i] * factor));
    sum += rounded;
    call.codes[i] = static_cast<int8_t>(rounded);
  }
  std::fill(call.codes + call.columns, call.codes + call.padded_columns, int8_t{0});
  return sum;
}

AbsmaxResult quantize_absmax_for_target(const AbsmaxCall& call) {
  const auto largest = std::bit_cast<float>(largest_magnitude_bits(call.x, call.columns));
  if (!std::isfinite(largest)) return {.scale = 0, .sum = 0, .is_finite = false};
  const float m = std::max(largest, call.epsilon);
  return {.scale = m / 127.0f, .sum = round_codes(call, 127.0f / m), .is_finite = true};
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(quantize_absmax_for_target);

AbsmaxResult quantize_absmax(const AbsmaxCall& call) {
  return HWY_DYNAMIC_DISPATCH(quantize_absmax_for_target)(call);
}

}  // namespace trilobite::kernels
#endif
