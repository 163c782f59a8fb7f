// Products of stored rows in groups for AVX-512 with VNNI and VBMI, sixteen rows at a time (hence
// no #pragma once). The vectors of stored_vectors-inl.hpp are 32 bytes long and take eight rows;
// here a vector has 64 bytes of one row, vpdpbusd adds four products to each of its lanes, and a
// transposition makes the sums of sixteen rows the lanes of one vector. Integer sums are exact and
// the f32 steps are the same, so the bits are those of every other instruction set.

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
///   scales(rows, at, out)    the f32 scale of each group, of sixteen rows
///   sums(rows, at, in, next, out)   the integer sum of each group, of sixteen rows; meanwhile as
///                            many bytes are fetched from `next` on as the step reads

/// The sums of each quarter of the vectors that a format has of a row.
template <class Format>
HWY_INLINE void sums_of_rows(const uint8_t* const* rows, size_t at,
                             const typename Format::Input& in, const uint8_t* next,
                             Words (&out)[4]) {
  const Fetcher<kManyRows * Format::kBytes, 4> fetcher{next};
  write_out<4>([&](size_t i) TRILOBITE_INLINE {
    fetcher.fetch(i);
    const auto of_row = [&](size_t r)
                            HWY_ATTR { return Format::row_sums(rows[4 * i + r] + at, in); };
    out[i] = sums_of_quarters(of_row(0), of_row(1), of_row(2), of_row(3));
  });
  transpose_quarters(out);
}

/// Four groups of 18 bytes: an f16 scale, then byte i with column i in its low and i + 16 in its
/// high nibble.
struct ManyQ4 {
  static constexpr size_t kGroups = 4;
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
  /// The same group of sixteen rows, out of two vectors of eight rows with four groups each.
  static constexpr auto row_places(size_t first_group) {
    std::array<uint16_t, 32> places{};
    for (size_t i = 0; i < 32; ++i) {
      places[i] = static_cast<uint16_t>(i % 16 * 4 + first_group + i / 16);
    }
    return places;
  }
  static HWY_INLINE Bytes eight_scales(const uint8_t* const* rows, size_t at) {
    const auto places = _mm512_loadu_si512(kScalePlaces.data());
    auto all = _mm512_setzero_si512();
    write_out<8>([&](size_t r) TRILOBITE_INLINE {
      const auto row = _mm512_loadu_si512(rows[r] + at);
      all = _mm512_mask_permutexvar_epi8(all, uint64_t{0xFF} << 8 * r, places, row);
    });
    return Bytes{all};
  }
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, ManyF32 (&out)[kGroups]) {
    static constexpr auto kFirst = row_places(0), kLast = row_places(2);
    const auto a = eight_scales(rows, at).raw, b = eight_scales(rows + 8, at).raw;
    const auto first = _mm512_permutex2var_epi16(a, _mm512_loadu_si512(kFirst.data()), b);
    const auto last = _mm512_permutex2var_epi16(a, _mm512_loadu_si512(kLast.data()), b);
    out[0] = to_f32(_mm512_castsi512_si256(first));
    out[1] = to_f32(_mm512_extracti64x4_epi64(first, 1));
    out[2] = to_f32(_mm512_castsi512_si256(last));
    out[3] = to_f32(_mm512_extracti64x4_epi64(last, 1));
  }
  static HWY_INLINE Words row_sums(const uint8_t* row, const Input& in) {
    const Bytes codes{_mm512_permutex2var_epi8(_mm512_loadu_si512(row),
                                               _mm512_loadu_si512(kCodePlaces.data()),
                                               _mm512_loadu_si512(row + 8))};
    const auto low = dot_from(in.start, bit_field<0, 15>(codes), in.low);
    return dot_from(low, bit_field<4, 15>(codes), in.high);
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kGroups]) {
    sums_of_rows<ManyQ4>(rows, at, in, next, out);
  }
};

/// Two groups of 34 bytes: an f16 scale and 32 signed codes.
struct ManyQ8 {
  static constexpr size_t kGroups = 2;
  static constexpr size_t kBytes = 68;
  struct Input : SixtyFour {
    HWY_INLINE explicit Input(const int8_t* x)
        : SixtyFour(sixty_four<128>(Bytes{_mm512_loadu_si512(x)})) {}
  };
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, ManyF32 (&out)[kGroups]) {
    out[0] = load_f16_of_many_rows(rows, at);
    out[1] = load_f16_of_many_rows(rows, at + 34);
  }
  static HWY_INLINE Words row_sums(const uint8_t* row, const Input& in) {
    const auto codes = hn::Xor(load_two(row + 2, row + 36), hn::Set(BytesTag(), 128));
    return dot_from(in.start, codes, in.x);
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kGroups]) {
    Words quarters[4];
    sums_of_rows<ManyQ8>(rows, at, in, next, quarters);
    out[0] = hn::Add(quarters[0], quarters[1]);
    out[1] = hn::Add(quarters[2], quarters[3]);
  }
};

/// A block of eight groups, 210 bytes. Column 128 h + 32 k + i has four bits in byte
/// 64 h + 32 (k % 2) + i and two in byte 128 + 32 h + i; sixteen columns share an int8 scale from
/// byte 192 on, all of them an f16 one at byte 208.
struct ManyQ6 {
  static constexpr size_t kGroups = 8;
  static constexpr size_t kBytes = 210;
  struct Input {
    SixtyFour at[4];
    HWY_INLINE explicit Input(const int8_t* x) {
      write_out<4>([&](size_t i) TRILOBITE_INLINE {
        at[i] = sixty_four<32>(Bytes{_mm512_loadu_si512(x + 64 * i)});
      });
    }
  };
  static HWY_INLINE void scales(const uint8_t* const* rows, size_t at, ManyF32 (&out)[kGroups]) {
    const auto scale = load_f16_of_many_rows(rows, at + 208);
    for (auto& one : out) one = scale;
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
  static HWY_INLINE void fetch_block(const uint8_t* at) {
    fetch_into_l1(at);
    fetch_into_l1(at + 64);
    fetch_into_l1(at + 128);
    fetch_into_l1(at + 192);
  }
  struct Work {
    const uint8_t* const* rows;
    size_t at;
    Fetcher<kManyRows * kBytes, 16> fetcher;
    __m512i two_scales[kManyRows / 2];
  };
  template <size_t kStep>
  static HWY_INLINE void step_sums(const Work& work, const SixtyFour& in, Words* out) {
    Words quarters[4];
    write_out<4>([&](size_t i) TRILOBITE_INLINE {
      work.fetcher.fetch(4 * kStep + i);
      // What was fetched for sixteen rows is more than the first level holds beside them: it is in
      // the second by now, and comes back two blocks before it is used.
      fetch_block(work.rows[4 * kStep + i] + work.at + 2 * kBytes);
      const auto row = [&](size_t r) HWY_ATTR { return work.rows[4 * i + r] + work.at; };
      const auto ab = two_rows<kStep>(row(0), row(1), work.two_scales[2 * i], in);
      const auto cd = two_rows<kStep>(row(2), row(3), work.two_scales[2 * i + 1], in);
      const auto even = _mm512_castps_si512(_mm512_shuffle_ps(ab, cd, 0x88));
      const auto odd = _mm512_castps_si512(_mm512_shuffle_ps(ab, cd, 0xDD));
      quarters[i] = Words{_mm512_add_epi32(even, odd)};
    });
    transpose_quarters(quarters);
    out[0] = hn::Add(quarters[0], quarters[1]);
    out[1] = hn::Add(quarters[2], quarters[3]);
  }
  static HWY_INLINE void sums(const uint8_t* const* rows, size_t at, const Input& in,
                              const uint8_t* next, Words (&out)[kGroups]) {
    Work work{.rows = rows, .at = at, .fetcher = {next}};
    for (size_t i = 0; i < kManyRows / 2; ++i) {
      work.two_scales[i] = scales_of_two(rows[2 * i] + at, rows[2 * i + 1] + at);
    }
    step_sums<0>(work, in.at[0], out);
    step_sums<1>(work, in.at[1], out + 2);
    step_sums<2>(work, in.at[2], out + 4);
    step_sums<3>(work, in.at[3], out + 6);
  }
};

/// One token and sixteen rows.
template <class Format>
struct ManyRows {
  const uint8_t* rows[kManyRows];
  const int8_t* x;
  const float* x_scales;

  /// The first `groups` groups of the step that begins with group `first`.
  struct Step {
    const uint8_t* const* rows;
    size_t at;
    const int8_t* x;
    const float* x_scales;
    size_t groups;
    const uint8_t* next;  // what is fetched meanwhile
  };
  static HWY_INLINE ManyF32 add_step(const Step& step, ManyF32 total) {
    const hn::ScalableTag<float> df;
    const typename Format::Input input(step.x);
    ManyF32 row_scales[Format::kGroups];
    Words sums[Format::kGroups];
    Format::scales(step.rows, step.at, row_scales);
    Format::sums(step.rows, step.at, input, step.next, sums);
    write_out<Format::kGroups>([&](size_t g) TRILOBITE_INLINE {
      if (g >= step.groups) return;
      const auto scaled = hn::Mul(hn::ConvertTo(df, sums[g]), row_scales[g]);
      total = hn::Add(total, hn::Mul(scaled, hn::Set(df, step.x_scales[g])));
    });
    return total;
  }

  /// What is left behind whole steps: copied, so that nothing is read beyond the rows.
  HWY_NOINLINE ManyF32 add_rest(size_t at, size_t first, size_t groups, ManyF32 total) const {
    uint8_t copies[kManyRows][Format::kBytes] = {};
    int8_t rest_x[Format::kGroups * 32] = {};
    const uint8_t* from[kManyRows];
    for (size_t r = 0; r < kManyRows; ++r) {
      std::memcpy(copies[r], rows[r] + at, groups * Format::kBytes / Format::kGroups);
      from[r] = copies[r];
    }
    std::memcpy(rest_x, x + first * 32, groups * 32);
    return add_step({from, 0, rest_x, x_scales + first, groups, copies[0]}, total);
  }

  HWY_INLINE ManyF32 multiply(size_t groups) const {
    ManyF32 total = hn::Zero(hn::ScalableTag<float>());
    size_t group = 0, at = 0;
    for (; group + Format::kGroups <= groups; group += Format::kGroups, at += Format::kBytes) {
      // What the next rows will read: as many bytes as this step reads of all rows.
      const uint8_t* next = rows[kManyRows - 1] + kFetchAhead + kManyRows * at;
      total = add_step({rows, at, x + group * 32, x_scales + group, Format::kGroups, next}, total);
    }
    if constexpr (Format::kGroups != 8) {
      if (group < groups) total = add_rest(at, group, groups - group, total);
    }
    return total;
  }
};

template <class Format>
void multiply_groups(const StoredGroupCall& call, size_t first, size_t last) {
  const size_t groups = call.weights.columns / kGroupColumns;
  fetch_first_rows(call.weights, first, last, kManyRows);
  ManyRows<Format> many{};
  for (size_t row = first; row < last; row += kManyRows) {
    find_rows(call.weights, row, last, many.rows);
    for (size_t token = 0; token < call.x.tokens; ++token) {
      many.x = call.x.codes + token * call.x.stride;
      many.x_scales = call.x.scales + token * groups;
      HWY_ALIGN float totals[kManyRows];
      hn::Store(many.multiply(groups), hn::ScalableTag<float>(), totals);
      std::memcpy(call.out + token * call.out_stride + row, totals,
                  std::min(kManyRows, last - row) * sizeof(float));
    }
  }
}

void multiply_groups_of_format(const StoredGroupCall& call, size_t first, size_t last) {
  switch (call.weights.format) {
    case StoredFormat::q4_0: return multiply_groups<ManyQ4>(call, first, last);
    case StoredFormat::q8_0: return multiply_groups<ManyQ8>(call, first, last);
    default: return multiply_groups<ManyQ6>(call, first, last);
  }
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
