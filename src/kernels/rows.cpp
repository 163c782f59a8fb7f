#include "kernels/rows.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp-inl.hpp"
#include "kernels/sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

template <typename T>
float largest_of(const T* x, size_t count) {
  const F32 d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto largest = lowest;
  auto second = lowest;
  size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    largest = hn::Max(largest, load(x + i));
    second = hn::Max(second, load(x + i + kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) largest = hn::Max(largest, load(x + i));
  if (i < count) {
    const size_t rest = count - i;
    second = hn::Max(second, hn::IfThenElse(hn::FirstN(d, rest), load_some(x + i, rest), lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest, second)));
}

/// powers[i] = exp(x[i] - shift). Summed in a second pass: 64 running sums with an exponential in
/// each would be thousands of instructions.
template <typename T>
void shifted_powers(const T* x, float shift, size_t count, float* powers) {
  const auto shifts = hn::Set(F32(), shift);
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t lanes = std::min(kLanes, count - i);
    const bool whole = lanes == kLanes;
    const auto power = exp_f32(hn::Sub(whole ? load(x + i) : load_some(x + i, lanes), shifts));
    whole ? store(power, powers + i) : store_some(power, powers + i, lanes);
  }
}

template <typename T>
struct Values {
  const T* x;
  HWY_INLINE VF32 full(size_t i) const { return load(x + i); }
  HWY_INLINE VF32 some(size_t i, size_t n) const { return load_some(x + i, n); }
};

struct SoftmaxBody {
  const SoftmaxCall& call;
  template <typename T>
  void run() const {
    // The powers of an f32 row wait in the result itself.
    std::vector<float> wide(std::is_same_v<T, float> ? 0 : call.columns);
    for (size_t row = 0; row < call.rows; ++row) {
      const T* x = static_cast<const T*>(call.x) + row * call.columns;
      T* out = static_cast<T*>(call.out) + row * call.columns;
      float* powers = wide.data();
      if constexpr (std::is_same_v<T, float>) powers = out;
      shifted_powers(x, largest_of(x, call.columns), call.columns, powers);
      const double sum = sum_all(Values<float>{powers}, call.columns);
      const auto scale = static_cast<float>(1.0 / sum);
      const auto scales = hn::Set(F32(), scale);
      size_t i = 0;
      for (; i + kLanes <= call.columns; i += kLanes)
        store(hn::Mul(load(powers + i), scales), out + i);
      if (i < call.columns) {
        const size_t rest = call.columns - i;
        store_some(hn::Mul(load_some(powers + i, rest), scales), out + i, rest);
      }
    }
  }
};

template <typename T>
struct SquaredDistances {
  const T* x;
  float from;
  HWY_INLINE VF32 full(size_t i) const {
    const auto distance = hn::Sub(load(x + i), hn::Set(F32(), from));
    return hn::Mul(distance, distance);
  }
  HWY_INLINE VF32 some(size_t i, size_t n) const {
    const auto distance = hn::Sub(load_some(x + i, n), hn::Set(F32(), from));
    return hn::IfThenElseZero(hn::FirstN(F32(), n), hn::Mul(distance, distance));
  }
};

/// (x - center) * scale * weight + bias, the bias being optional.
template <typename T>
struct ScaledRow {
  const T* x;
  const T* weight;
  const T* bias;
  float center;
  float scale;
  HWY_INLINE VF32 scaled(VF32 value, VF32 weights) const {
    const F32 d;
    return hn::Mul(hn::Mul(hn::Sub(value, hn::Set(d, center)), hn::Set(d, scale)), weights);
  }
  HWY_INLINE void write(T* out, size_t count) const {
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const auto value = scaled(load(x + i), load(weight + i));
      store(bias == nullptr ? value : hn::Add(value, load(bias + i)), out + i);
    }
    if (i == count) return;
    const size_t rest = count - i;
    const auto value = scaled(load_some(x + i, rest), load_some(weight + i, rest));
    store_some(bias == nullptr ? value : hn::Add(value, load_some(bias + i, rest)), out + i, rest);
  }
};

struct NormBody {
  const NormCall& call;
  bool centered;
  template <typename T>
  void run() const {
    const auto columns = static_cast<double>(call.columns);
    for (size_t row = 0; row < call.rows; ++row) {
      const T* x = static_cast<const T*>(call.x) + row * call.columns;
      const double mean = centered ? sum_all(Values<T>{x}, call.columns) / columns : 0.0;
      const auto center = static_cast<float>(mean);
      const double squares = sum_all(SquaredDistances<T>{x, center}, call.columns) / columns;
      const double scale = 1.0 / std::sqrt(squares + static_cast<double>(call.epsilon));
      const ScaledRow<T> scaled{.x = x,
                                .weight = static_cast<const T*>(call.weight),
                                .bias = centered ? static_cast<const T*>(call.bias) : nullptr,
                                .center = center,
                                .scale = static_cast<float>(scale)};
      scaled.write(static_cast<T*>(call.out) + row * call.columns, call.columns);
    }
  }
};

void softmax_for_target(const SoftmaxCall& call) { with_float_type(call.dtype, SoftmaxBody{call}); }
void rmsnorm_for_target(const NormCall& call) {
  with_float_type(call.dtype, NormBody{call, false});
}
void layernorm_for_target(const NormCall& call) {
  with_float_type(call.dtype, NormBody{call, true});
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(softmax_for_target);
HWY_EXPORT(rmsnorm_for_target);
HWY_EXPORT(layernorm_for_target);

void softmax(const SoftmaxCall& call) { HWY_DYNAMIC_DISPATCH(softmax_for_target)(call); }
void rmsnorm(const NormCall& call) { HWY_DYNAMIC_DISPATCH(rmsnorm_for_target)(call); }
void layernorm(const NormCall& call) { HWY_DYNAMIC_DISPATCH(layernorm_for_target)(call); }

}  // namespace trilobite::kernels
#endif
