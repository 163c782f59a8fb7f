#include "kernels/randn.hpp"

#include <algorithm>
#include <array>

#include "base/as241.hpp"
#include "base/rng.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/randn.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// One lane cannot hold the 64-bit products of two 32-bit ones.
void randn_for_target(const RandnCall& call) {
  for (size_t i = 0; i < call.count; ++i) {
    call.out[i] = normal_at(call.seed, call.stream, call.first + i);
  }
}

#else

using U32 = hn::ScalableTag<uint32_t>;
using F64 = hn::ScalableTag<double>;
using U64 = hn::ScalableTag<uint64_t>;
using VU32 = hn::Vec<U32>;
using VF64 = hn::Vec<F64>;
inline constexpr size_t kCounters = hn::MaxLanes(U32());  // Philox blocks computed side by side
inline constexpr size_t kWords = 4 * kCounters;

/// Upper halves of the 64-bit products.
HWY_INLINE VU32 multiply_high(VU32 a, VU32 b) {
  const auto even = hn::ShiftRight<32>(hn::MulEven(a, b));
  const auto a_odd = hn::BitCast(U32(), hn::ShiftRight<32>(hn::BitCast(U64(), a)));
  const auto odd = hn::MulEven(a_odd, b);
  return hn::OddEven(hn::BitCast(U32(), odd), hn::BitCast(U32(), even));
}

/// philox(seed, stream, counter + lane) for every lane, one block after the other: base/rng.cpp
/// with vectors.
HWY_INLINE void philox_blocks(const RandnCall& call, uint64_t counter, uint32_t* words) {
  const U32 d;
  HWY_ALIGN uint32_t low[kCounters];
  HWY_ALIGN uint32_t high[kCounters];
  for (size_t lane = 0; lane < kCounters; ++lane) {
    low[lane] = static_cast<uint32_t>(counter + lane);
    high[lane] = static_cast<uint32_t>((counter + lane) >> 32);
  }
  auto x0 = hn::Load(d, low);
  auto x1 = hn::Load(d, high);
  auto x2 = hn::Set(d, static_cast<uint32_t>(call.stream));
  auto x3 = hn::Set(d, static_cast<uint32_t>(call.stream >> 32));
  auto key0 = static_cast<uint32_t>(call.seed);
  auto key1 = static_cast<uint32_t>(call.seed >> 32);
  const auto multiplier0 = hn::Set(d, 0xD2511F53);
  const auto multiplier1 = hn::Set(d, 0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    const auto high0 = multiply_high(x0, multiplier0);
    const auto high1 = multiply_high(x2, multiplier1);
    const auto low0 = hn::Mul(x0, multiplier0);
    const auto low1 = hn::Mul(x2, multiplier1);
    x0 = hn::Xor(hn::Xor(high1, x1), hn::Set(d, key0));
    x2 = hn::Xor(hn::Xor(high0, x3), hn::Set(d, key1));
    x1 = low1;
    x3 = low0;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  hn::StoreInterleaved4(x0, x1, x2, x3, d, words);
}

// From here on: the operations of base/rng.cpp in their order, so that the bits agree. No fused
// multiply-add, therefore.
HWY_INLINE VF64 times_plus(VF64 a, VF64 b, double c) {
  return hn::Add(hn::Mul(a, b), hn::Set(F64(), c));
}

template <size_t N>
HWY_INLINE VF64 rational(VF64 x, const std::array<double, N>& numerator,
                         const std::array<double, N>& denominator) {
  auto above = hn::Set(F64(), numerator[N - 1]);
  auto below = hn::Set(F64(), denominator[N - 1]);
  for (size_t i = N - 1; i-- > 0;) {
    above = times_plus(above, x, numerator[i]);
    below = times_plus(below, x, denominator[i]);
  }
  return hn::Div(above, below);
}

HWY_INLINE VF64 portable_log(VF64 x) {
  const F64 d;
  const U64 du;
  const auto bits = hn::BitCast(du, x);
  // An integer below 2^52 in the mantissa of 2^52 becomes a double by subtracting 2^52.
  const auto biased = hn::Or(hn::ShiftRight<52>(bits), hn::Set(du, 0x4330000000000000));
  auto exponent = hn::Sub(hn::BitCast(d, biased), hn::Set(d, 0x1p52 + 1023));
  const auto fraction = hn::And(bits, hn::Set(du, 0x000FFFFFFFFFFFFF));
  auto mantissa = hn::BitCast(d, hn::Or(fraction, hn::Set(du, 0x3FF0000000000000)));
  const auto large = hn::Gt(mantissa, hn::Set(d, 1.4142135623730951));
  mantissa = hn::IfThenElse(large, hn::Mul(mantissa, hn::Set(d, 0.5)), mantissa);
  const auto one = hn::Set(d, 1.0);
  exponent = hn::Add(exponent, hn::IfThenElseZero(large, one));
  const auto f = hn::Div(hn::Sub(mantissa, one), hn::Add(mantissa, one));
  const auto square = hn::Mul(f, f);
  auto series = hn::Set(d, 1.0 / 21.0);
  for (int odd = 19; odd >= 1; odd -= 2) series = times_plus(series, square, 1.0 / odd);
  return hn::Add(hn::Mul(exponent, hn::Set(d, 0.6931471805599453)),
                 hn::Mul(hn::Mul(hn::Set(d, 2.0), f), series));
}

/// normal_from_bits. Its third branch (r > 5) needs p < 1.4e-11, but 32 bits end at 1.1e-10.
HWY_INLINE hn::Vec<hn::Rebind<float, F64> > normals_from_bits(const uint32_t* words) {
  const F64 d;
  const hn::Rebind<int32_t, F64> d32;
  // Unsigned to double by way of signed: both steps are exact.
  const auto word = hn::LoadU(d32, reinterpret_cast<const int32_t*>(words));
  const auto shifted = hn::PromoteTo(d, hn::Xor(word, hn::Set(d32, INT32_MIN)));
  const auto p = hn::Mul(hn::Add(shifted, hn::Set(d, 0x1p31 + 0.5)), hn::Set(d, 0x1p-32));
  const auto q = hn::Sub(p, hn::Set(d, 0.5));
  const auto central = hn::Le(hn::Abs(q), hn::Set(d, 0.425));
  const auto from_center = hn::Sub(hn::Set(d, 0.180625), hn::Mul(q, q));
  auto normal = hn::Mul(q, rational(from_center, as241::kA, as241::kB));
  if (!hn::AllTrue(d, central)) {
    const auto negative = hn::Lt(q, hn::Zero(d));
    const auto tail = hn::IfThenElse(negative, p, hn::Sub(hn::Set(d, 1.0), p));
    const auto r = hn::Sqrt(hn::Neg(portable_log(tail)));
    const auto size = rational(hn::Sub(r, hn::Set(d, 1.6)), as241::kC, as241::kD);
    normal = hn::IfThenElse(central, normal, hn::IfThenElse(negative, hn::Neg(size), size));
  }
  return hn::DemoteTo(hn::Rebind<float, F64>(), normal);
}

void randn_for_target(const RandnCall& call) {
  HWY_ALIGN uint32_t words[kWords];
  HWY_ALIGN float normals[kWords];
  for (size_t i = 0; i < call.count; i += kWords) {
    philox_blocks(call, (call.first + i) / 4, words);
    const bool whole = call.count - i >= kWords;
    float* out = whole ? call.out + i : normals;
    for (size_t at = 0; at < kWords; at += hn::Lanes(F64())) {
      hn::StoreU(normals_from_bits(words + at), hn::Rebind<float, F64>(), out + at);
    }
    if (!whole) std::copy_n(normals, call.count - i, call.out + i);
  }
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(randn_for_target);

void randn(const RandnCall& call) { HWY_DYNAMIC_DISPATCH(randn_for_target)(call); }

}  // namespace trilobite::kernels
#endif
