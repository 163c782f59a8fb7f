// Products of stored rows in groups for AVX-512 with VNNI and VBMI, eight rows at a time (hence
// no #pragma once). A vector has 64 bytes of one row, vpdpbusd adds four products to each of its
// lanes, and the sums of eight rows and two groups become the lanes of one vector. Integer sums are
// exact and the f32 steps are the same, so the bits are those of every other instruction set.

#if defined(TRILOBITE_KERNELS_STORED_GROUPS_WIDE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_GROUPS_WIDE_INL_HPP
#undef TRILOBITE_KERNELS_STORED_GROUPS_WIDE_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_GROUPS_WIDE_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/stored_wide_vectors-inl.hpp"
#include "kernels/write_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#ifdef TRILOBITE_STORED_WIDE

/// A Format has steps of kGroups groups in kBytes of each row, and for these
///   Input(x)                 activations of a step
///   scales(rows, at, out)    the f32 scales of each pair of groups
///   sums(rows, at, in, next, out)   the integer sums of each pair; meanwhile as many bytes are
///                            fetched from `next` on as the step reads

/// The sums of four rows of which a format has one vector each.
template <class Format>
HWY_INLINE Words sums_of_four(const uint8_t* const* rows, size_t at,
                              const typename Format::Input& in) {
  return sums_of_quarters(Format::row_sums(rows[0] + at, in), Format::row_sums(rows[1] + at, in),
                          Format::row_sums(rows[2] + at, in), Format::row_sums(rows[3] + at, in));
}

/// Four groups of 18 bytes: an f16 scale, then byte i with column i in its low and i + 16 in its
/// high nibble.
struct WideQ4 {
  static constexpr size_t kGroups = 4, kPairs = 2;
  static constexpr size_t kBytes = 72;
  struct Input {
    Bytes low, high;  // quarter g: the columns of group g that lie in low or high nibbles
    Words start;
    HWY_INLINE explicit Input(const int8_t* x) {
      const auto a = _mm512_loadu_si512(x), b = _mm512_loadu_si512(x + 64);
      low = Bytes{_mm512_shuffle_i32x4(a, b, 0x88)};
      high = Bytes{_mm512_shuffle_i32x4(a, b, 0xDD)};
      const auto eight = hn::Set(BytesTag(), 8);
      start = hn::Neg(dot_from(QuadDot::product(eight, low), eight, high));
    }
  };
  /// Of the 128 bytes of two loads at 0 and at 8: where byte i of quarter g lies.
  static constexpr auto kCodePlaces = [] {
    std::array<uint8_t, 64> places{};
    for (size_t i = 0; i < 64; ++i) {
      const size_t at = i / 16 * 18 + 2 + i % 16;
      places[i] = static_cast<uint8_t>(at < 64 ? at : 64 + at - 8);
    }
    return places;
  }();
  /// The four scales, in every 8 bytes.
  static constexpr auto kScalePlaces = [] {
    std::array<uint8_t, 64> places{};
    for (size_t i = 0; i < 64; ++i) places[i] = static_cast<uint8_t>(i % 8 / 2 * 18 + i % 2);
    return places;
  }();
  /// Out of eight rows with four groups each: two pairs of groups of all rows.
  static constexpr auto kRowPlaces = [] {
    std::array<uint16_t, 32> places{};
    for (size_t i = 0; i < 32; ++i) places[i] = static_cast<uint16_t>(i % 8 * 4 + i / 8);
    return places;
  }();
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, PairF32 (&out)[kPairs]) {
    const auto places = _mm512_loadu_si512(kScalePlaces.data());
    auto all = _mm512_setzero_si512();
    write_out<8>([&](size_t r) TRILOBITE_INLINE {
      const auto row = _mm512_loadu_si512(rows[r] + at);
      all = _mm512_mask_permutexvar_epi8(all, uint64_t{0xFF} << 8 * r, places, row);
    });
    const auto by_group = _mm512_permutexvar_epi16(_mm512_loadu_si512(kRowPlaces.data()), all);
    out[0] = to_f32(_mm512_castsi512_si256(by_group));
    out[1] = to_f32(_mm512_extracti64x4_epi64(by_group, 1));
  }
  static HWY_INLINE Words row_sums(const uint8_t* row, const Input& in) {
    const Bytes codes{_mm512_permutex2var_epi8(_mm512_loadu_si512(row),
                                               _mm512_loadu_si512(kCodePlaces.data()),
                                               _mm512_loadu_si512(row + 8))};
    const auto low = dot_from(in.start, bit_field<0, 15>(codes), in.low);
    return dot_from(low, bit_field<4, 15>(codes), in.high);
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kPairs]) {
    const Fetcher<kRowsAtOnce * kBytes, 2> fetcher{next};
    fetcher.fetch(0);
    const auto first = sums_of_four<WideQ4>(rows, at, in);
    fetcher.fetch(1);
    const auto last = sums_of_four<WideQ4>(rows + 4, at, in);
    out[0] = pair_of_quarters<0, 1>(first, last);
    out[1] = pair_of_quarters<2, 3>(first, last);
  }
};

/// Two groups of 34 bytes: an f16 scale and 32 signed codes.
struct WideQ8 {
  static constexpr size_t kGroups = 2, kPairs = 1;
  static constexpr size_t kBytes = 68;
  struct Input : SixtyFour {
    HWY_INLINE explicit Input(const int8_t* x)
        : SixtyFour(sixty_four<128>(Bytes{_mm512_loadu_si512(x)})) {}
  };
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, PairF32 (&out)[kPairs]) {
    out[0] = pair_of_f16(load_f16_of_eight(rows, at), load_f16_of_eight(rows, at + 34));
  }
  static HWY_INLINE Words row_sums(const uint8_t* row, const Input& in) {
    const auto codes = hn::Xor(load_two(row + 2, row + 36), hn::Set(BytesTag(), 128));
    return dot_from(in.start, codes, in.x);
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kPairs]) {
    const Fetcher<kRowsAtOnce * kBytes, 2> fetcher{next};
    fetcher.fetch(0);
    const auto first = sums_of_four<WideQ8>(rows, at, in);
    fetcher.fetch(1);
    out[0] = pair_of_halves(first, sums_of_four<WideQ8>(rows + 4, at, in));
  }
};

/// A block of eight groups, 210 bytes. Column 128 h + 32 k + i has four bits in byte
/// 64 h + 32 (k % 2) + i and two in byte 128 + 32 h + i; sixteen columns share an int8 scale from
/// byte 192 on, all of them an f16 one at byte 208.
struct WideQ6 {
  static constexpr size_t kGroups = 8, kPairs = 4;
  static constexpr size_t kBytes = 210;
  struct Input {
    SixtyFour at[4];
    HWY_INLINE explicit Input(const int8_t* x) {
      write_out<4>([&](size_t i) TRILOBITE_INLINE {
        at[i] = sixty_four<32>(Bytes{_mm512_loadu_si512(x + 64 * i)});
      });
    }
  };
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, PairF32 (&out)[kPairs]) {
    const auto scale = load_f16_of_eight(rows, at + 208);
    for (auto& pair : out) pair = pair_of_f16(scale, scale);
  }
  /// Columns 64 kStep and up: of each half of the vector, 32.
  template <size_t kStep>
  static HWY_INLINE Bytes codes(const uint8_t* row) {
    constexpr size_t kHalf = kStep / 2;
    const auto four_bits = bit_field<kStep % 2 * 4, 15>(load_bytes(row + 64 * kHalf));
    const auto two_bits = _mm512_broadcast_i64x4(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 128 + 32 * kHalf)));
    // To bits 4 and 5: from bits 0 and 1 of the first half and 2 and 3 of the second, or from 4
    // and 5 of the first half and 6 and 7 of the second.
    const auto places = kStep % 2 == 0 ? _mm512_sllv_epi16(two_bits, halves_of(4, 2))
                                       : _mm512_srlv_epi16(two_bits, halves_of(0, 2));
    return hn::Or(four_bits, hn::And(Bytes{places}, hn::Set(BytesTag(), 0x30)));
  }
  static HWY_INLINE __m512i halves_of(short first, short second) {
    return _mm512_inserti64x4(_mm512_set1_epi16(first), _mm256_set1_epi16(second), 1);
  }
  /// The int8 scales of two rows as numbers of 16 bits, the first row's first.
  static HWY_INLINE __m512i scales_of_two(const uint8_t* a, const uint8_t* b) {
    const auto load = [](const uint8_t* row) HWY_ATTR {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 192));
    };
    return _mm512_cvtepi8_epi16(
        _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1));
  }
  /// Out of these: of the columns 64 step and up, in each 128 bits four times the scale of those
  /// 16 columns of the first row, then of the second.
  static constexpr auto scale_places(size_t step) {
    std::array<uint16_t, 32> places{};
    for (size_t i = 0; i < 32; ++i) {
      places[i] = static_cast<uint16_t>(i / 4 % 2 * 16 + 4 * step + i / 8);
    }
    return places;
  }
  /// Two rows: their sums of four products, at most 4 * 32 * 127 in magnitude, fit 16 bits, and one
  /// instruction multiplies them by the scales and adds neighbours.
  template <size_t kStep>
  static HWY_INLINE __m512 two_rows(const uint8_t* a, const uint8_t* b, __m512i two_scales,
                                    const SixtyFour& in) {
    static constexpr auto kPlaces = scale_places(kStep);
    const auto of_a = dot_from(in.start, codes<kStep>(a), in.x);
    const auto of_b = dot_from(in.start, codes<kStep>(b), in.x);
    const auto sums = _mm512_packs_epi32(of_a.raw, of_b.raw);
    const auto scales = _mm512_permutexvar_epi16(_mm512_loadu_si512(kPlaces.data()), two_scales);
    return _mm512_castsi512_ps(_mm512_madd_epi16(sums, scales));
  }
  /// Sums of four rows and 64 columns: of each 16 columns, in 128 bits.
  template <size_t kStep>
  static HWY_INLINE Words four_rows(const uint8_t* const* rows, size_t at, const __m512i* scales,
                                    const SixtyFour& in) {
    const auto ab = two_rows<kStep>(rows[0] + at, rows[1] + at, scales[0], in);
    const auto cd = two_rows<kStep>(rows[2] + at, rows[3] + at, scales[1], in);
    const auto even = _mm512_castps_si512(_mm512_shuffle_ps(ab, cd, 0x88));
    const auto odd = _mm512_castps_si512(_mm512_shuffle_ps(ab, cd, 0xDD));
    return Words{_mm512_add_epi32(even, odd)};
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kPairs]) {
    const Fetcher<kRowsAtOnce * kBytes, 8> fetcher{next};
    __m512i scales[kRowsAtOnce / 2];
    for (size_t i = 0; i < kRowsAtOnce / 2; ++i) {
      scales[i] = scales_of_two(rows[2 * i] + at, rows[2 * i + 1] + at);
    }
    const auto step = [&]<size_t kStep>() TRILOBITE_INLINE {
      fetcher.fetch(2 * kStep);
      const auto first = four_rows<kStep>(rows, at, scales, in.at[kStep]);
      fetcher.fetch(2 * kStep + 1);
      const auto last = four_rows<kStep>(rows + 4, at, scales + 2, in.at[kStep]);
      out[kStep] = pair_of_halves(first, last);
    };
    step.template operator()<0>();
    step.template operator()<1>();
    step.template operator()<2>();
    step.template operator()<3>();
  }
};

/// One token and eight rows.
template <class Format>
class RowsAtOnce {
 public:
  RowsAtOnce(const StoredRows& weights, size_t first, size_t last)
      : groups_(weights.columns / kGroupColumns) {
    find_rows(weights, first, last, rows_);
  }

  HWY_INLINE __m256 multiply(const int8_t* x, const float* x_scales) const {
    __m256 total = _mm256_setzero_ps();
    size_t group = 0, at = 0;
    for (; group + Format::kGroups <= groups_; group += Format::kGroups, at += Format::kBytes) {
      // What the next rows will read: as many bytes as this step reads of all rows.
      const uint8_t* next = rows_[kRowsAtOnce - 1] + kFetchAhead + kRowsAtOnce * at;
      const Step step{rows_, at, x + group * kGroupColumns, x_scales + group, next};
      total = add_step(step, Format::kGroups, total);
    }
    if constexpr (Format::kGroups != 8) {  // columns are whole blocks
      if (group < groups_) {
        total = add_rest(group, x + group * kGroupColumns, x_scales + group, total);
      }
    }
    return total;
  }

 private:
  struct Step {
    const uint8_t* const* rows;
    size_t at;
    const int8_t* x;
    const float* x_scales;
    const uint8_t* next;  // what is fetched meanwhile
  };
  /// The first `groups` groups of the step.
  static HWY_INLINE __m256 add_step(const Step& step, size_t groups, __m256 total) {
    const typename Format::Input input(step.x);
    PairF32 scales[Format::kPairs];
    Words sums[Format::kPairs];
    Format::scales(step.rows, step.at, scales);
    Format::sums(step.rows, step.at, input, step.next, sums);
    write_out<Format::kPairs>([&](size_t p) TRILOBITE_INLINE {
      const auto scaled = hn::Mul(hn::ConvertTo(hn::ScalableTag<float>(), sums[p]), scales[p]);
      const auto product = hn::Mul(scaled, pair_of_scales(step.x_scales + 2 * p)).raw;
      if (2 * p < groups) total = _mm256_add_ps(total, _mm512_castps512_ps256(product));
      if (2 * p + 1 < groups) total = _mm256_add_ps(total, _mm512_extractf32x8_ps(product, 1));
    });
    return total;
  }

  /// What is left behind whole steps: copied, so that nothing is read beyond the rows.
  HWY_NOINLINE __m256 add_rest(size_t group, const int8_t* x, const float* x_scales,
                               __m256 total) const {
    constexpr size_t kGroupBytes = Format::kBytes / Format::kGroups;
    const size_t groups = groups_ - group;
    uint8_t copies[kRowsAtOnce][Format::kBytes] = {};
    int8_t rest_x[Format::kGroups * kGroupColumns] = {};
    float rest_scales[Format::kGroups] = {};
    const uint8_t* rows[kRowsAtOnce];
    for (size_t r = 0; r < kRowsAtOnce; ++r) {
      std::memcpy(copies[r], rows_[r] + group * kGroupBytes, groups * kGroupBytes);
      rows[r] = copies[r];
    }
    std::memcpy(rest_x, x, groups * kGroupColumns);
    std::memcpy(rest_scales, x_scales, groups * sizeof(float));
    return add_step({rows, 0, rest_x, rest_scales, copies[0]}, groups, total);
  }

  const uint8_t* rows_[kRowsAtOnce];
  size_t groups_;
};

template <class Format>
void multiply_groups(const StoredGroupCall& call, size_t first, size_t last) {
  const size_t groups = call.weights.columns / kGroupColumns;
  fetch_first_rows(call.weights, first, last, kRowsAtOnce);
  for (size_t row = first; row < last; row += kRowsAtOnce) {
    const RowsAtOnce<Format> rows(call.weights, row, last);
    for (size_t token = 0; token < call.x.tokens; ++token) {
      alignas(32) float totals[kRowsAtOnce];
      _mm256_store_ps(totals, rows.multiply(call.x.codes + token * call.x.stride,
                                            call.x.scales + token * groups));
      std::memcpy(call.out + token * call.out_stride + row, totals,
                  std::min(kRowsAtOnce, last - row) * sizeof(float));
    }
  }
}

void multiply_groups_of_format(const StoredGroupCall& call, size_t first, size_t last) {
  switch (call.weights.format) {
    case StoredFormat::q4_0: return multiply_groups<WideQ4>(call, first, last);
    case StoredFormat::q8_0: return multiply_groups<WideQ8>(call, first, last);
    default: return multiply_groups<WideQ6>(call, first, last);
  }
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
