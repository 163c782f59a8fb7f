// Loads and stores of f32, f16 and bf16 (and loads of int8) as vectors of f32, for one Highway
// target: included once per target (hence no #pragma once). Stores round to nearest even, as
// Float16::from and BFloat16::from do, and keep NaN.

#if defined(TRILOBITE_KERNELS_FLOAT_IO_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_FLOAT_IO_INL_HPP
#undef TRILOBITE_KERNELS_FLOAT_IO_INL_HPP
#else
#define TRILOBITE_KERNELS_FLOAT_IO_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensor/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;
inline constexpr size_t kLanes = hn::MaxLanes(F32());

HWY_INLINE VF32 load(const float* from) { return hn::LoadU(F32(), from); }
HWY_INLINE void store(VF32 v, float* to) { hn::StoreU(v, F32(), to); }

HWY_INLINE VF32 load(const int8_t* from) {
  const hn::Rebind<int8_t, F32> d8;
  const hn::Rebind<int32_t, F32> d32;
  return hn::ConvertTo(F32(), hn::PromoteTo(d32, hn::LoadU(d8, from)));
}

HWY_INLINE VF32 load(const BFloat16* from) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::Rebind<uint32_t, F32> d32;
  const auto bits = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}

HWY_INLINE void store(VF32 v, BFloat16* to) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::Rebind<uint32_t, F32> d32;
  const hn::Rebind<int32_t, F32> di32;
  const auto bits = hn::BitCast(d32, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFF)));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(v));
  const auto high = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di32, high)), d16, reinterpret_cast<uint16_t*>(to));
}

// F16C came with AVX2; the others do what dtype.cpp does, on integer vectors. (Highway's own
// emulation truncates.)
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

HWY_INLINE VF32 load(const Float16* from) {
  const hn::Rebind<hwy::float16_t, F32> d16;
  return hn::PromoteTo(F32(), hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
}

HWY_INLINE void store(VF32 v, Float16* to) {
  const hn::Rebind<hwy::float16_t, F32> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(to));
}

#else

HWY_INLINE VF32 load(const Float16* from) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::Rebind<int32_t, F32> d32;
  const auto half = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(d32, 0x8000)));
  const auto magnitude = hn::And(half, hn::Set(d32, 0x7FFF));
  const auto rebias = hn::Set(d32, 112 << 23);
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
  const auto special = hn::Gt(magnitude, hn::Set(d32, 0x7BFF));  // infinity or NaN
  const auto wide = hn::IfThenElse(special, hn::Add(normal, rebias), normal);
  const auto subnormal =
      hn::BitCast(d32, hn::Mul(hn::ConvertTo(F32(), magnitude), hn::Set(F32(), 0x1p-24f)));
  const auto tiny = hn::Gt(hn::Set(d32, 0x400), magnitude);
  return hn::BitCast(F32(), hn::Or(hn::IfThenElse(tiny, subnormal, wide), sign));
}

HWY_INLINE void store(VF32 v, Float16* to) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::Rebind<int32_t, F32> d32;
  const auto magnitude = hn::BitCast(d32, hn::Abs(v));
  // Logical shift of the sign bit down to bit 15.
  const auto sign = hn::And(hn::ShiftRight<16>(hn::BitCast(d32, v)), hn::Set(d32, 0x8000));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1));
  const auto rounding = hn::Add(odd, hn::Set(d32, 0xFFF - (112 << 23)));
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, rounding));
  const auto shifted = hn::BitCast(d32, hn::Add(hn::Abs(v), hn::Set(F32(), 0.5f)));
  const auto subnormal = hn::Sub(shifted, hn::Set(d32, 0x3F000000));
  const auto tiny = hn::Gt(hn::Set(d32, 0x38800000), magnitude);
  auto half = hn::IfThenElse(tiny, subnormal, normal);
  const auto too_big = hn::Gt(magnitude, hn::Set(d32, 0x477FEFFF));
  half = hn::IfThenElse(too_big, hn::Set(d32, 0x7C00), half);
  const auto is_nan = hn::Gt(magnitude, hn::Set(d32, 0x7F800000));
  half = hn::Or(hn::IfThenElse(is_nan, hn::Set(d32, 0x7E00), half), sign);
  hn::StoreU(hn::DemoteTo(d16, half), d16, reinterpret_cast<uint16_t*>(to));
}

#endif

/// The first `count` < kLanes elements, then zeros.
template <typename T>
HWY_INLINE VF32 load_some(const T* from, size_t count) {
  T padded[kLanes] = {};
  std::copy_n(from, count, padded);
  return load(padded);
}

template <typename T>
HWY_INLINE void store_some(VF32 v, T* to, size_t count) {
  T padded[kLanes];
  store(v, padded);
  std::copy_n(padded, count, to);
}

/// Calls body.template run<T>(), T being the C++ type of a floating-point dtype.
template <class Body>
HWY_INLINE void with_float_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f32: return body.template run<float>();
    case DType::f16: return body.template run<Float16>();
    case DType::bf16: return body.template run<BFloat16>();
    default: return;
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
