// Products of stored ternary rows for AVX-512 with VNNI and VBMI (hence no #pragma once): a vector
// has 64 bytes of one row, and vpdpbusd adds four products to each of its lanes.

#if defined(TRILOBITE_KERNELS_STORED_TERNARY_WIDE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_TERNARY_WIDE_INL_HPP
#undef TRILOBITE_KERNELS_STORED_TERNARY_WIDE_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_TERNARY_WIDE_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/byte_dot-inl.hpp"
#include "kernels/stored_rows-inl.hpp"
#include "kernels/write_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#ifdef TRILOBITE_STORED_WIDE

/// The codes of 256 columns lie in 64 bytes: four places of two bits, of which each half of the
/// vector has 32 columns. vpdpbusd takes them where they lie, times 1, 4, 16 and 64.
struct TernaryInput {
  Bytes place[4];  // activations by the place of their codes, the lowest bits first
};

/// x has the columns of two chunks of 128, or of one when there is no second.
template <bool kFirstIsLowest>
HWY_INLINE TernaryInput load_ternary_input(const int8_t* x, bool has_second) {
  TernaryInput input;
  write_out<4>([&](size_t p) TRILOBITE_INLINE {
    const int8_t* from = x + 32 * (kFirstIsLowest ? p : 3 - p);
    const auto first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const auto second = has_second
                            ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 128))
                            : _mm256_setzero_si256();
    input.place[p] = Bytes{_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1)};
  });
  return input;
}

/// Sums of one row by the place of the codes: a lane gains at most 4 * 128 * 128 in a step of 256
/// columns, which 32 bits hold for eight million columns, as they do the sum of a row itself.
struct PlacedSums {
  Words at[4];

  HWY_INLINE PlacedSums() {
    write_out<4>([&](size_t p) TRILOBITE_INLINE { at[p] = QuadDot::zero(); });
  }
  HWY_INLINE void add(Bytes packed, const TernaryInput& x) {
    write_out<4>([&](size_t p) TRILOBITE_INLINE {
      const auto code = hn::And(packed, hn::Set(BytesTag(), static_cast<uint8_t>(3 << 2 * p)));
      QuadDot::add(at[p], code, x.place[p]);
    });
  }
  HWY_INLINE int32_t total() const {
    const auto low = hn::Add(at[0], hn::ShiftRight<2>(at[1]));
    const auto high = hn::Add(at[2], hn::ShiftRight<2>(at[3]));
    return hn::GetLane(hn::SumOfLanes(WordsTag(), hn::Add(low, hn::ShiftRight<4>(high))));
  }
};

/// Rows that share the loading of activations: 16 sums, 4 of activations and the masks fit the
/// registers.
inline constexpr size_t kTernaryRows = 4;

template <class Chunks, bool kIntoL1>
HWY_INLINE void add_ternary(const uint8_t* const* rows, const int8_t* x, size_t chunks,
                            PlacedSums (&sums)[kTernaryRows]) {
  size_t chunk = 0;
  for (; chunk + 2 <= chunks; chunk += 2) {
    const auto input = load_ternary_input<Chunks::kFirstIsLowest>(x + chunk * kChunkColumns, true);
    const uint8_t* next = rows[0] + kFetchAhead + chunk * kTernaryRows * 32;
    write_out<kTernaryRows>([&](size_t r) TRILOBITE_INLINE {
      fetch_weights<kIntoL1>(next + 64 * r);
      sums[r].add(load_bytes(rows[r] + Chunks::at(chunk)), input);
    });
  }
  // Rows are longer than their codes: a line that nobody fetched costs a trip to memory.
  for (size_t at = chunk * kTernaryRows * 32; at < kTernaryRows * Chunks::at(chunks); at += 64) {
    fetch_weights<kIntoL1>(rows[0] + kFetchAhead + at);
  }
  if (chunk == chunks) return;
  const auto input = load_ternary_input<Chunks::kFirstIsLowest>(x + chunk * kChunkColumns, false);
  write_out<kTernaryRows>([&](size_t r) TRILOBITE_INLINE {
    sums[r].add(Bytes{_mm512_maskz_loadu_epi8(0xFFFFFFFF, rows[r] + Chunks::at(chunk))}, input);
  });
}

template <class Chunks, bool kIntoL1>
void multiply_ternary_rows(const StoredTernaryCall& call, size_t first, size_t last) {
  const size_t chunks = call.weights.columns / kChunkColumns;
  fetch_first_rows(call.weights, first, last, kTernaryRows);
  for (size_t row = first; row < last; row += kTernaryRows) {
    const uint8_t* rows[kTernaryRows];
    find_rows(call.weights, row, last, rows);
    for (size_t token = 0; token < call.x.tokens; ++token) {
      PlacedSums sums[kTernaryRows];
      add_ternary<Chunks, kIntoL1>(rows, call.x.codes + token * call.x.stride, chunks, sums);
      // Apart from the loop over rows that exist: sums looked up by a number would lie in memory.
      int32_t totals[kTernaryRows];
      write_out<kTernaryRows>([&](size_t r) TRILOBITE_INLINE { totals[r] = sums[r].total(); });
      for (size_t r = 0; r < std::min(kTernaryRows, last - row); ++r) {
        store_ternary(call, token, row + r, totals[r]);
      }
    }
  }
}

template <class Chunks>
void multiply_ternary(const StoredTernaryCall& call, size_t first, size_t last) {
  kFetchesIntoL1 ? multiply_ternary_rows<Chunks, true>(call, first, last)
                 : multiply_ternary_rows<Chunks, false>(call, first, last);
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
