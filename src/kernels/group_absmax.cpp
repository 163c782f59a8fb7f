#include "kernels/group_absmax.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "quant/group_tiles.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/group_absmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using quant::kGroupColumns;
using I32 = hn::Rebind<int32_t, F32>;
using I8 = hn::Rebind<int8_t, F32>;

static_assert(kGroupColumns % kLanes == 0);
inline constexpr size_t kGroupVectors = kGroupColumns / kLanes;

/// Below this all codes are 0: 127 / m must stay finite.
inline constexpr float kSmallestMagnitude = 0x1p-100f;

/// Where the results of one group go.
struct GroupCodes {
  int8_t* codes;
  float* scale;
  int32_t* sum;
  int32_t* half_sums;  // or null
};

/// False when a value is not finite.
HWY_INLINE bool quantize_group(const float* x, GroupCodes to) {
  const I32 d;
  VF32 values[kGroupVectors];
  // The bits of magnitudes are ordered as the magnitudes are; NaN and infinity come out on top.
  auto largest = hn::Zero(d);
  for (size_t v = 0; v < kGroupVectors; ++v) {
    values[v] = load(x + v * kLanes);
    largest = hn::Max(largest, hn::BitCast(d, hn::Abs(values[v])));
  }
  const auto magnitude = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(d, largest)));
  if (!std::isfinite(magnitude)) return false;
  const float m = std::max(magnitude, kSmallestMagnitude);
  const auto factor = hn::Set(F32(), 127.0f / m);
  hn::Vec<I32> sums[2] = {hn::Zero(d), hn::Zero(d)};  // of both halves
  for (size_t v = 0; v < kGroupVectors; ++v) {
    const auto rounded = hn::NearestInt(hn::Mul(values[v], factor));
    auto& sum = sums[v / (kGroupVectors / 2)];
    sum = hn::Add(sum, rounded);
    hn::StoreU(hn::DemoteTo(I8(), rounded), I8(), to.codes + v * kLanes);
  }
  *to.scale = m / 127.0f;
  *to.sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sums[0], sums[1])));
  if (to.half_sums == nullptr) return true;
  const auto low = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(d, sums[0])));
  const auto high = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(d, sums[1])));
  *to.half_sums = static_cast<int32_t>((low & 0xFFFF) | high << 16);
  return true;
}

bool quantize_absmax_groups_for_target(const GroupAbsmaxCall& call) {
  const auto group_at = [&](size_t column) {
    const size_t group = column / kGroupColumns;
    return GroupCodes{call.codes + column, call.scales + group, call.sums + group,
                      call.half_sums == nullptr ? nullptr : call.half_sums + group};
  };
  size_t column = 0;
  for (; column + kGroupColumns <= call.columns; column += kGroupColumns) {
    if (!quantize_group(call.x + column, group_at(column))) return false;
  }
  if (column == call.columns) return true;
  float padded[kGroupColumns] = {};
  std::copy(call.x + column, call.x + call.columns, padded);
  return quantize_group(padded, group_at(column));
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(quantize_absmax_groups_for_target);

bool quantize_absmax_groups(const GroupAbsmaxCall& call) {
  return HWY_DYNAMIC_DISPATCH(quantize_absmax_groups_for_target)(call);
}

}  // namespace trilobite::kernels
#endif
