#include "kernels/convert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

template <typename From, typename To>
void convert(const From* from, To* to, size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(load(from + i), to + i);
  if (i < count) store_some(load_some(from + i, count - i), to + i, count - i);
}

struct ToF32Body {
  const ToF32Call& call;
  template <typename T>
  void run() const {
    convert(static_cast<const T*>(call.from), call.to, call.count);
  }
};

struct FromF32Body {
  const FromF32Call& call;
  template <typename T>
  void run() const {
    convert(call.from, static_cast<T*>(call.to), call.count);
  }
};

void to_f32_for_target(const ToF32Call& call) { with_float_type(call.dtype, ToF32Body{call}); }
void from_f32_for_target(const FromF32Call& call) {
  with_float_type(call.dtype, FromF32Body{call});
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(to_f32_for_target);
HWY_EXPORT(from_f32_for_target);

void to_f32(const ToF32Call& call) { HWY_DYNAMIC_DISPATCH(to_f32_for_target)(call); }
void from_f32(const FromF32Call& call) { HWY_DYNAMIC_DISPATCH(from_f32_for_target)(call); }

}  // namespace trilobite::kernels
#endif
