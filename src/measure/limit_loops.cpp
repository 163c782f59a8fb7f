#include "measure/limit_loops.hpp"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/limit_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace trilobite {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Values must come from memory that the compiler knows nothing about and go back there, or it would
// compute the whole loop at compile time.
volatile float seed_f32 = 1.0f;
volatile uint16_t seed_u16 = 0x3F80;
volatile uint8_t seed_u8 = 1;
volatile float sink_f32;
volatile int32_t sink_i32;

const hn::ScalableTag<float> df;
const hn::ScalableTag<uint64_t> du64;

// Reads run ahead by this much; the hardware prefetchers stop at page boundaries.
constexpr size_t kPrefetchBytes = 2048;
constexpr size_t kFarPrefetchBytes = 16 * 1024;
constexpr size_t kLine = 64;

// Two streams, one in each half: a core has more requests under way than with one.
uint64_t read_two_streams(const std::byte* from, size_t bytes) {
  const auto* low = reinterpret_cast<const uint64_t*>(from);
  const auto* high = reinterpret_cast<const uint64_t*>(from + bytes / 2);
  const size_t lanes = hn::Lanes(du64);
  auto a = hn::Zero(du64), b = hn::Zero(du64), c = hn::Zero(du64), d = hn::Zero(du64);
  for (size_t i = 0; i < bytes / 16; i += 2 * lanes) {
    for (size_t at = kPrefetchBytes; at < kPrefetchBytes + 16 * lanes; at += kLine) {
      hwy::Prefetch(reinterpret_cast<const std::byte*>(low + i) + at);
      hwy::Prefetch(reinterpret_cast<const std::byte*>(high + i) + at);
    }
    a = hn::Xor(a, hn::Load(du64, low + i));
    b = hn::Xor(b, hn::Load(du64, low + i + lanes));
    c = hn::Xor(c, hn::Load(du64, high + i));
    d = hn::Xor(d, hn::Load(du64, high + i + lanes));
  }
  return hn::GetLane(hn::SumOfLanes(du64, hn::Add(hn::Xor(a, b), hn::Xor(c, d))));
}

// One stream, fetched into the second level from far ahead.
uint64_t read_one_stream(const std::byte* from, size_t bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(from);
  const size_t lanes = hn::Lanes(du64);
  auto a = hn::Zero(du64), b = hn::Zero(du64), c = hn::Zero(du64), d = hn::Zero(du64);
  for (size_t i = 0; i < bytes / 8; i += 4 * lanes) {
    for (size_t at = kFarPrefetchBytes; at < kFarPrefetchBytes + 32 * lanes; at += kLine) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(words + i) + at, 0, 2);
    }
    a = hn::Xor(a, hn::Load(du64, words + i));
    b = hn::Xor(b, hn::Load(du64, words + i + lanes));
    c = hn::Xor(c, hn::Load(du64, words + i + 2 * lanes));
    d = hn::Xor(d, hn::Load(du64, words + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(du64, hn::Add(hn::Xor(a, b), hn::Xor(c, d))));
}

template <bool kStreaming>
HWY_INLINE void store(hn::Vec<decltype(df)> value, float* to) {
  if constexpr (kStreaming) {
    hn::Stream(value, df, to);
  } else {
    hn::Store(value, df, to);
  }
}

template <bool kStreaming>
HWY_INLINE void write_with(float* out, size_t count) {
  const auto value = hn::Set(df, seed_f32);
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < count; i += 4 * lanes) {
    store<kStreaming>(value, out + i);
    store<kStreaming>(value, out + i + lanes);
    store<kStreaming>(value, out + i + 2 * lanes);
    store<kStreaming>(value, out + i + 3 * lanes);
  }
}

template <bool kStreaming>
HWY_INLINE void copy_with(const float* in, float* out, size_t count) {
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < count; i += 2 * lanes) {
    hwy::Prefetch(reinterpret_cast<const std::byte*>(in + i) + kPrefetchBytes);
    const auto first = hn::Load(df, in + i);
    const auto second = hn::Load(df, in + i + lanes);
    store<kStreaming>(first, out + i);
    store<kStreaming>(second, out + i + lanes);
  }
}

template <bool kStreaming>
HWY_INLINE void triad_with(const float* a, const float* b, float* out, size_t count) {
  const auto three = hn::Set(df, 3.0f);
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < count; i += 2 * lanes) {
    hwy::Prefetch(reinterpret_cast<const std::byte*>(a + i) + kPrefetchBytes);
    hwy::Prefetch(reinterpret_cast<const std::byte*>(b + i) + kPrefetchBytes);
    const auto first = hn::MulAdd(hn::Load(df, b + i), three, hn::Load(df, a + i));
    const auto second = hn::MulAdd(hn::Load(df, b + i + lanes), three, hn::Load(df, a + i + lanes));
    store<kStreaming>(first, out + i);
    store<kStreaming>(second, out + i + lanes);
  }
}

const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }
float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

void write_loop(std::byte* to, size_t bytes, bool streaming) {
  if (!streaming) return write_with<false>(floats(to), bytes / 4);
  write_with<true>(floats(to), bytes / 4);
  hwy::FlushStream();
}

void copy_loop(const std::byte* from, std::byte* to, size_t bytes, bool streaming) {
  if (!streaming) return copy_with<false>(floats(from), floats(to), bytes / 4);
  copy_with<true>(floats(from), floats(to), bytes / 4);
  hwy::FlushStream();
}

void triad_loop(const std::byte* a, const std::byte* b, std::byte* to, size_t bytes,
                bool streaming) {
  if (!streaming) return triad_with<false>(floats(a), floats(b), floats(to), bytes / 4);
  triad_with<true>(floats(a), floats(b), floats(to), bytes / 4);
  hwy::FlushStream();
}

// Twelve independent chains: two FMA units with a latency of 4 to 5 cycles need at least ten. Each
// chain starts from a value of its own, or the compiler would see that they are equal and compute
// fewer.
double f32_loop(uint64_t rounds) {
  constexpr size_t kChains = 12;
  const auto x = hn::Set(df, seed_f32);
  const auto y = hn::Set(df, 1e-9f);
  hn::Vec<decltype(df)> s[kChains];
  for (size_t k = 0; k < kChains; ++k) s[k] = hn::Set(df, seed_f32 + static_cast<float>(k));
  for (uint64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(12)
    for (size_t k = 0; k < kChains; ++k) s[k] = hn::MulAdd(s[k], x, y);
  }
  auto total = s[0];
  for (size_t k = 1; k < kChains; ++k) total = hn::Add(total, s[k]);
  sink_f32 = hn::GetLane(hn::SumOfLanes(df, total));
  return static_cast<double>(rounds * kChains * 2 * hn::Lanes(df));
}

#if HWY_TARGET == HWY_SCALAR
double bf16_loop(uint64_t rounds) {
  float sum = 0;
  uint32_t value = seed_u16;
  for (uint64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+r"(value));  // keeps the conversion inside the loop
    const float wide = std::bit_cast<float>(value << 16);
    sum += wide * wide;
  }
  sink_f32 = sum;
  return static_cast<double>(rounds) * 2;
}
#else
// Pairs of bf16 multiplied and added to f32 by two conversions and two fused multiply-adds, which
// is what a bf16 product costs without a bf16 instruction.
double converted_bf16_loop(uint64_t rounds) {
  constexpr size_t kChains = 6;
  const hn::Repartition<hwy::bfloat16_t, decltype(df)> dbf;
  const hn::RebindToUnsigned<decltype(dbf)> du16;
  const auto a = hn::BitCast(dbf, hn::Set(du16, seed_u16));
  hn::Vec<decltype(df)> low[kChains];
  hn::Vec<decltype(df)> high[kChains];
  for (size_t k = 0; k < kChains; ++k) {
    low[k] = hn::Set(df, seed_f32 + static_cast<float>(k));
    high[k] = hn::Set(df, seed_f32 - static_cast<float>(k));
  }
  auto b = a;
  for (uint64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(6)
    for (size_t k = 0; k < kChains; ++k) {
      // A new operand each time keeps the conversions inside the loop.
      b = hn::BitCast(dbf, hn::Xor(hn::BitCast(du16, b), hn::Set(du16, uint16_t{1})));
      low[k] = hn::ReorderWidenMulAccumulate(df, a, b, low[k], high[k]);
    }
  }
  auto total = hn::Add(low[0], high[0]);
  for (size_t k = 1; k < kChains; ++k) total = hn::Add(total, hn::Add(low[k], high[k]));
  sink_f32 = hn::GetLane(hn::SumOfLanes(df, total));
  return static_cast<double>(rounds * kChains * 2 * hn::Lanes(dbf));
}

#if HWY_TARGET == HWY_AVX3_DL
// vdpbf16ps, which Highway 1.0.3 does not know.
__attribute__((target("avx512bf16"))) double native_bf16_loop(uint64_t rounds) {
  const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi16(static_cast<short>(seed_u16)));
  __m512 s[10];
  for (int i = 0; i < 10; ++i) s[i] = _mm512_set1_ps(seed_f32 + static_cast<float>(i));
  for (uint64_t i = 0; i < rounds; ++i) {
    for (auto& sum : s) sum = _mm512_dpbf16_ps(sum, a, a);
  }
  __m512 total = s[0];
  for (int i = 1; i < 10; ++i) total = _mm512_add_ps(total, s[i]);
  sink_f32 = _mm512_cvtss_f32(total);
  return static_cast<double>(rounds) * 10 * 2 * 32;
}

double bf16_loop(uint64_t rounds) {
  return __builtin_cpu_supports("avx512bf16") ? native_bf16_loop(rounds)
                                              : converted_bf16_loop(rounds);
}
#else
double bf16_loop(uint64_t rounds) { return converted_bf16_loop(rounds); }
#endif
#endif

#if HWY_TARGET == HWY_AVX3_DL
// vpdpbusd: four u8*i8 products added to each i32 lane. Highway's own target string leaves VNNI
// out.
__attribute__((target("avx512vnni"))) double i8_loop(uint64_t rounds) {
  const __m512i a = _mm512_set1_epi8(static_cast<char>(seed_u8));
  __m512i s[10];
  for (int i = 0; i < 10; ++i) s[i] = _mm512_set1_epi32(seed_u8 + i);
  for (uint64_t i = 0; i < rounds; ++i) {
    for (auto& sum : s) sum = _mm512_dpbusd_epi32(sum, a, a);
  }
  __m512i total = s[0];
  for (int i = 1; i < 10; ++i) total = _mm512_add_epi32(total, s[i]);
  sink_i32 = _mm512_cvtsi512_si32(total);
  return static_cast<double>(rounds) * 10 * 2 * 64;
}
#elif HWY_TARGET == HWY_AVX2
// AVX-VNNI: vpdpbusd as above, in its shorter encoding (not a target of Highway's).
double vnni_loop(uint64_t rounds) {
  const __m256i a = _mm256_set1_epi8(static_cast<char>(seed_u8));
  __m256i s[10];
  for (int i = 0; i < 10; ++i) s[i] = _mm256_set1_epi32(seed_u8 + i);
  for (uint64_t i = 0; i < rounds; ++i) {
    for (auto& sum : s) asm volatile("%{vex%} vpdpbusd %1, %1, %0" : "+x"(sum) : "x"(a));
  }
  __m256i total = s[0];
  for (int i = 1; i < 10; ++i) total = _mm256_add_epi32(total, s[i]);
  sink_i32 = _mm256_cvtsi256_si32(total);
  return static_cast<double>(rounds) * 10 * 2 * 32;
}

// Without VNNI a byte product is vpmaddubsw, vpmaddwd and vpaddd. Bytes of 1 cannot saturate i16.
double i8_loop(uint64_t rounds) {
  if (__builtin_cpu_supports("avxvnni")) return vnni_loop(rounds);
  const __m256i ones = _mm256_set1_epi16(seed_u8);
  __m256i a = _mm256_set1_epi8(static_cast<char>(seed_u8));
  __m256i s[8];
  for (int i = 0; i < 8; ++i) s[i] = _mm256_set1_epi32(seed_u8 + i);
  for (uint64_t i = 0; i < rounds; ++i) {
    for (auto& sum : s) {
      asm volatile("" : "+x"(a));  // keeps the product inside the loop
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, a), ones));
    }
  }
  __m256i total = s[0];
  for (int i = 1; i < 8; ++i) total = _mm256_add_epi32(total, s[i]);
  sink_i32 = _mm256_cvtsi256_si32(total);
  return static_cast<double>(rounds) * 8 * 2 * 32;
}
#elif HWY_TARGET == HWY_SCALAR
double i8_loop(uint64_t rounds) {
  int32_t sum = 0;
  int32_t value = seed_u8;
  for (uint64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+r"(value));  // keeps the product inside the loop
    sum += value * value;
  }
  sink_i32 = sum;
  return static_cast<double>(rounds) * 2;
}
#else
// Portable: i16 pairs multiplied and added to i32, which is what widened bytes cost.
double i8_loop(uint64_t rounds) {
  constexpr size_t kChains = 4;
  const hn::ScalableTag<int32_t> di32;
  const hn::Repartition<int16_t, decltype(di32)> di16;
  const auto a = hn::Set(di16, static_cast<int16_t>(seed_u8));
  hn::Vec<decltype(di32)> low[kChains];
  hn::Vec<decltype(di32)> high[kChains];
  for (size_t k = 0; k < kChains; ++k) {
    low[k] = hn::Set(di32, seed_u8 + static_cast<int32_t>(k));
    high[k] = hn::Set(di32, seed_u8 - static_cast<int32_t>(k));
  }
  auto b = a;
  for (uint64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(4)
    for (size_t k = 0; k < kChains; ++k) {
      b = hn::Xor(b, hn::Set(di16, int16_t{1}));
      low[k] = hn::ReorderWidenMulAccumulate(di32, a, b, low[k], high[k]);
    }
  }
  auto total = hn::Add(low[0], high[0]);
  for (size_t k = 1; k < kChains; ++k) total = hn::Add(total, hn::Add(low[k], high[k]));
  sink_i32 = hn::GetLane(hn::SumOfLanes(di32, total));
  return static_cast<double>(rounds * kChains * 2 * hn::Lanes(di16));
}
#endif

// Products with ternary codes are so small that pairs of them can be summed in 16 bits for a while:
// vpmaddubsw and vpaddw, one instruction less than for bytes. With VNNI, and without SIMD, there is
// no difference.
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || \
    !HWY_ARCH_X86
double ternary_loop(uint64_t rounds) { return i8_loop(rounds); }
#else
double ternary_loop(uint64_t rounds) {
#if HWY_TARGET == HWY_AVX2
  if (__builtin_cpu_supports("avxvnni")) return vnni_loop(rounds);
#endif
  constexpr size_t kChains = 12;
  const hn::ScalableTag<int16_t> d16;
  auto a = hn::Set(hn::ScalableTag<uint8_t>(), seed_u8);
  hn::Vec<decltype(d16)> s[kChains];
  for (size_t k = 0; k < kChains; ++k) {
    s[k] = hn::Set(d16, static_cast<int16_t>(seed_u8 + static_cast<int>(k)));
  }
  for (uint64_t i = 0; i < rounds; ++i) {
    HWY_UNROLL(12)
    for (size_t k = 0; k < kChains; ++k) {
      asm volatile("" : "+x"(a.raw));  // keeps the product inside the loop
#if HWY_TARGET == HWY_AVX3
      const hn::Vec<decltype(d16)> product{_mm512_maddubs_epi16(a.raw, a.raw)};
#elif HWY_TARGET == HWY_AVX2
      const hn::Vec<decltype(d16)> product{_mm256_maddubs_epi16(a.raw, a.raw)};
#else
      const hn::Vec<decltype(d16)> product{_mm_maddubs_epi16(a.raw, a.raw)};
#endif
      s[k] = hn::Add(s[k], product);
    }
  }
  auto total = s[0];
  for (size_t k = 1; k < kChains; ++k) total = hn::Add(total, s[k]);
  sink_i32 = hn::GetLane(total);
  return static_cast<double>(rounds * kChains * 4 * hn::Lanes(d16));
}
#endif

LimitLoops loops() {
  return {{read_two_streams, read_one_stream},
          write_loop,
          copy_loop,
          triad_loop,
          f32_loop,
          bf16_loop,
          i8_loop,
          ternary_loop};
}

int64_t target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace trilobite
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite {

HWY_EXPORT(loops);
HWY_EXPORT(target);

LimitLoops limit_loops() { return HWY_DYNAMIC_DISPATCH(loops)(); }

std::string limit_loops_isa() {
  switch (HWY_DYNAMIC_DISPATCH(target)()) {
    case HWY_AVX3_DL: return "avx3_dl";
    case HWY_AVX3: return "avx3";
    case HWY_AVX2: return "avx2";
    case HWY_SSE4: return "sse4";
    case HWY_SSSE3: return "ssse3";
    default: return "scalar";
  }
}

}  // namespace trilobite
#endif
