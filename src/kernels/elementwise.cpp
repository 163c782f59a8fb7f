#include "kernels/elementwise.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp-inl.hpp"
#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

struct Add {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Add(a, b); }
};
struct Multiply {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const { return hn::Mul(a, b); }
};

struct Relu {
  // Compare and select, for Max may drop NaN.
  HWY_INLINE VF32 operator()(VF32 x) const {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(F32())), x);
  }
};

struct Swish {
  float beta;
  HWY_INLINE VF32 operator()(VF32 x) const {
    const F32 d;
    const auto power = exp_f32(hn::Mul(x, hn::Set(d, -beta)));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), power));
  }
};

struct GeluTanh {
  // 0.5 (1 + tanh u) = 1 / (1 + exp(-2u)): one exponential, and no cancellation for u << 0.
  HWY_INLINE VF32 operator()(VF32 x) const {
    const F32 d;
    constexpr float kMinusTwoSqrt2OverPi = -1.5957691216f;
    const auto cubic = hn::Mul(hn::Mul(x, x), hn::Mul(x, hn::Set(d, 0.044715f)));
    const auto u = hn::Mul(hn::Add(x, cubic), hn::Set(d, kMinusTwoSqrt2OverPi));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exp_f32(u)));
  }
};

struct GeluErf {
  // 0.5 (1 + erf(z)) = 0.5 erfc(-z): no cancellation for z << 0.
  HWY_INLINE VF32 operator()(VF32 x) const {
    const F32 d;
    const auto z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678f));
    const auto tail = hn::Mul(hn::Set(d, 0.5f), erfc_positive(z));
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::Mul(x, hn::IfThenElse(negative, tail, hn::Sub(hn::Set(d, 1.0f), tail)));
  }
};

/// Elements before the first one that begins a cache line.
template <typename T>
size_t elements_to_line(const T* out, size_t count) {
  const size_t past = reinterpret_cast<uintptr_t>(out) % 64;
  return past == 0 ? 0 : std::min(count, (64 - past) / sizeof(T));
}

/// The whole vectors of [begin, count) go past the caches; returns where the rest begins. `out +
/// begin` is aligned. Full cache lines at a time, or the write-combining buffers empty half full.
template <class Source>
HWY_INLINE size_t stream(const Source& source, float* out, size_t begin, size_t count) {
  constexpr size_t kLine = std::max<size_t>(1, 16 / kLanes);
  size_t i = begin;
  for (; i + kLine * kLanes <= count; i += kLine * kLanes) {
    for (size_t v = 0; v < kLine; ++v) {
      hn::Stream(source.full(i + v * kLanes), F32(), out + i + v * kLanes);
    }
  }
  return i;
}

/// 16-bit results are half a vector each: they are gathered in L1 first.
template <class Source, typename T>
HWY_INLINE size_t stream(const Source& source, T* out, size_t begin, size_t count) {
  const hn::ScalableTag<uint16_t> d;
  constexpr size_t kBlock = 512;
  HWY_ALIGN T block[kBlock];
  size_t i = begin;
  for (; i + kBlock <= count; i += kBlock) {
    for (size_t at = 0; at < kBlock; at += kLanes) store(source.full(i + at), block + at);
    for (size_t at = 0; at < kBlock; at += hn::Lanes(d)) {
      const auto bits = hn::Load(d, reinterpret_cast<const uint16_t*>(block + at));
      hn::Stream(bits, d, reinterpret_cast<uint16_t*>(out + i + at));
    }
  }
  return i;
}

/// Elements [begin, end) without touching any other: what loops over whole vectors leave over. Not
/// inlined, for the functions are long and this is their third copy.
template <typename T, class Source>
HWY_NOINLINE void produce_few(const Source& source, T* out, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = std::min(kLanes, end - i);
    store_some(source.some(i, count), out + i, count);
  }
}

/// out[i] = what source.full(i) gives for a vector of elements from i on, source.some(i, n) for n.
template <typename T, class Source>
HWY_INLINE void produce(const Source& source, T* out, size_t count, StoreTo store_to) {
  size_t i = 0;
  if (store_to == StoreTo::memory) {
    const size_t head = elements_to_line(out, count);
    produce_few(source, out, 0, head);
    i = stream(source, out, head, count);
    hwy::FlushStream();
  }
  for (; i + kLanes <= count; i += kLanes) store(source.full(i), out + i);
  if (i < count) produce_few(source, out, i, count);
}

template <typename T, class Function>
struct UnarySource {
  Function function;
  const T* x;
  HWY_INLINE VF32 full(size_t i) const { return function(load(x + i)); }
  HWY_INLINE VF32 some(size_t i, size_t n) const { return function(load_some(x + i, n)); }
};

template <typename T, class Function>
struct BinarySource {
  Function function;
  const T* a;
  const T* b;
  HWY_INLINE VF32 full(size_t i) const { return function(load(a + i), load(b + i)); }
  HWY_INLINE VF32 some(size_t i, size_t n) const {
    return function(load_some(a + i, n), load_some(b + i, n));
  }
};

struct ConstantSource {
  VF32 value;
  HWY_INLINE VF32 full(size_t) const { return value; }
  HWY_INLINE VF32 some(size_t, size_t) const { return value; }
};

struct BinaryBody {
  const BinaryCall& call;
  template <typename T, class Function>
  HWY_INLINE void apply(Function function) const {
    const BinarySource<T, Function> source{function, static_cast<const T*>(call.a),
                                           static_cast<const T*>(call.b)};
    produce(source, static_cast<T*>(call.out), call.count, call.store_to);
  }
  template <typename T>
  HWY_INLINE void run() const {
    switch (call.op) {
      case Binary::add: return apply<T>(Add());
      case Binary::mul: return apply<T>(Multiply());
    }
  }
};

struct ActivationBody {
  const ActivationCall& call;
  template <typename T, class Function>
  HWY_INLINE void apply(Function function) const {
    const UnarySource<T, Function> source{function, static_cast<const T*>(call.x)};
    produce(source, static_cast<T*>(call.out), call.count, call.store_to);
  }
  template <typename T>
  HWY_INLINE void run() const {
    switch (call.op) {
      case Activation::relu: return apply<T>(Relu());
      case Activation::gelu_tanh: return apply<T>(GeluTanh());
      case Activation::gelu_erf: return apply<T>(GeluErf());
      case Activation::swish: return apply<T>(Swish{call.beta});
    }
  }
};

struct FillBody {
  const FillCall& call;
  template <typename T>
  HWY_INLINE void run() const {
    produce(ConstantSource{hn::Set(F32(), call.value)}, static_cast<T*>(call.out), call.count,
            call.store_to);
  }
};

void binary_for_target(const BinaryCall& call) { with_float_type(call.dtype, BinaryBody{call}); }
void activation_for_target(const ActivationCall& call) {
  with_float_type(call.dtype, ActivationBody{call});
}
void fill_for_target(const FillCall& call) { with_float_type(call.dtype, FillBody{call}); }

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(binary_for_target);
HWY_EXPORT(activation_for_target);
HWY_EXPORT(fill_for_target);

void binary(const BinaryCall& call) { HWY_DYNAMIC_DISPATCH(binary_for_target)(call); }
void activation(const ActivationCall& call) { HWY_DYNAMIC_DISPATCH(activation_for_target)(call); }
void fill(const FillCall& call) { HWY_DYNAMIC_DISPATCH(fill_for_target)(call); }

}  // namespace trilobite::kernels
#endif
