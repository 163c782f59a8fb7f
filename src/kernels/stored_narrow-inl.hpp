// Products of stored rows with one token, for one Highway target (hence no #pragma once): vectors
// of 32 bytes or 16 along a row (stored_vectors-inl.hpp), as many rows of groups at a time as a
// vector has 32-bit lanes.

#if defined(TRILOBITE_KERNELS_STORED_NARROW_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_NARROW_INL_HPP
#undef TRILOBITE_KERNELS_STORED_NARROW_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_NARROW_INL_HPP
#endif

#include <algorithm>
#include <cstring>

#include "kernels/stored_rows-inl.hpp"
#include "kernels/stored_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

#ifdef TRILOBITE_STORED_VECTORS

/// Rows that share the loading of activations.
inline constexpr size_t kTernaryRows = 4;
/// Sums of 64 pairs of at most 2 * 2 * 128 still fit 16 bits.
inline constexpr size_t kChunksIn16Bits = 16 / kParts;

template <class Chunks, size_t kPlane>
HWY_INLINE V8 plane_of(V8 packed) {
  constexpr int kShift = 2 * (Chunks::kFirstIsLowest ? kPlane : 3 - kPlane);
  return field<kShift, 3>(packed);
}

/// Adds chunks [first, last) of kTernaryRows rows to `totals`.
template <class Chunks>
HWY_INLINE void add_chunks(const uint8_t* const* rows, const int8_t* x, size_t first, size_t last,
                           V32* totals) {
  V16 sums[kTernaryRows];
  for (auto& sum : sums) sum = hn::Zero(D16());
  for (size_t chunk = first; chunk < last; ++chunk) {
    const size_t at = Chunks::at(chunk);
    const Step a = load_step(x + chunk * kChunkColumns);
    const Step b = load_step(x + chunk * kChunkColumns + 32);
    const Step c = load_step(x + chunk * kChunkColumns + 64);
    const Step d = load_step(x + chunk * kChunkColumns + 96);
    fetch_weights_here(rows[0] + kFetchAhead + chunk * kTernaryRows * 32);
    fetch_weights_here(rows[0] + kFetchAhead + chunk * kTernaryRows * 32 + 64);
    HWY_UNROLL(4)
    for (size_t r = 0; r < kTernaryRows; ++r) {
      const Step packed = load_step(rows[r] + at);
      for (size_t p = 0; p < kParts; ++p) {
        const auto add = [&](V8 codes, V8 with)
                             HWY_ATTR { sums[r] = hn::Add(sums[r], pair_products(codes, with)); };
        add(plane_of<Chunks, 0>(packed.part[p]), a.part[p]);
        add(plane_of<Chunks, 1>(packed.part[p]), b.part[p]);
        add(plane_of<Chunks, 2>(packed.part[p]), c.part[p]);
        add(plane_of<Chunks, 3>(packed.part[p]), d.part[p]);
      }
    }
  }
  for (size_t r = 0; r < kTernaryRows; ++r) totals[r] = hn::Add(totals[r], widen(sums[r]));
}

template <class Chunks>
void multiply_ternary(const StoredTernaryCall& call, size_t first, size_t last) {
  const size_t chunks = call.weights.columns / kChunkColumns;
  for (size_t row = first; row < last; row += kTernaryRows) {
    const uint8_t* rows[kTernaryRows];
    find_rows(call.weights, row, last, rows);
    for (size_t token = 0; token < call.x.tokens; ++token) {
      const int8_t* x = call.x.codes + token * call.x.stride;
      V32 totals[kTernaryRows];
      for (auto& total : totals) total = hn::Zero(D32());
      for (size_t chunk = 0; chunk < chunks; chunk += kChunksIn16Bits) {
        add_chunks<Chunks>(rows, x, chunk, std::min(chunks, chunk + kChunksIn16Bits), totals);
      }
      for (size_t r = 0; r < std::min(kTernaryRows, last - row); ++r) {
        store_ternary(call, token, row + r, hn::GetLane(hn::SumOfLanes(D32(), totals[r])));
      }
    }
  }
}

/// The activations of one group, and what a weight of code `offset` would give.
struct GroupInput {
  Step x;
  V16 offset[kParts];
};

HWY_INLINE GroupInput load_input(const int8_t* x, uint8_t offset) {
  GroupInput input{.x = load_step(x)};
  for (size_t p = 0; p < kParts; ++p) {
    input.offset[p] = pair_products(hn::Set(D8(), offset), input.x.part[p]);
  }
  return input;
}
HWY_INLINE V16 dot(V8 codes, const GroupInput& input, size_t part) {
  return hn::Sub(pair_products(codes, input.x.part[part]), input.offset[part]);
}

/// Formats with one f16 scale in front of each group of 32 columns.
template <class Codes>
struct PlainGroups {
  static constexpr size_t kGroups = 1;  // of a block
  static constexpr uint8_t kOffset = Codes::kOffset;
  struct Rows {};  // what a block of each row brings besides
  static HWY_INLINE Rows look_at(const uint8_t* const*, size_t) { return {}; }
  static HWY_INLINE VF scales(const uint8_t* const* rows, size_t block) {
    return load_f16_of_rows(rows, block * Codes::kBytes);
  }
  template <size_t kGroup>
  static HWY_INLINE V32 dot_of(const uint8_t* row, size_t block, const Rows&, size_t,
                               const GroupInput& input) {
    return Codes::dot_of(row + block * Codes::kBytes + sizeof(uint16_t), input);
  }
};

/// Byte i holds column i in its low and column i + 16 in its high nibble.
struct Q4Codes {
  static constexpr size_t kBytes = 18;
  static constexpr uint8_t kOffset = 8;
  static HWY_INLINE V32 dot_of(const uint8_t* packed, const GroupInput& input) {
    const Step codes = load_nibbles(packed);
    V32 sum = widen(dot(codes.part[0], input, 0));
    for (size_t p = 1; p < kParts; ++p) sum = hn::Add(sum, widen(dot(codes.part[p], input, p)));
    return sum;
  }
};

/// Magnitudes times activations with the sign moved to them: 2 * 128 * 127 fits 16 bits.
struct Q8Codes {
  static constexpr size_t kBytes = 34;
  static constexpr uint8_t kOffset = 0;
  static HWY_INLINE V32 dot_of(const uint8_t* codes, const GroupInput& input) {
    const Step step = load_step(codes);
    const hn::RebindToSigned<D8> d;
    V32 sum = hn::Zero(D32());
    for (size_t p = 0; p < kParts; ++p) {
      const auto magnitudes = hn::BitCast(D8(), hn::Abs(hn::BitCast(d, step.part[p])));
      const auto x = with_sign_of(step.part[p], input.x.part[p]);
      sum = hn::Add(sum, widen(pair_products(magnitudes, x)));
    }
    return sum;
  }
};

/// Blocks of eight groups. Column 128 h + 32 k + i has four bits in byte 64 h + 32 (k % 2) + i and
/// two in byte 128 + 32 h + i; sixteen columns share an int8 scale, all an f16 one.
struct Q6Groups {
  static constexpr size_t kBytes = 210;
  static constexpr size_t kGroups = 8;
  static constexpr uint8_t kOffset = 32;
  /// The int8 scales of a block, as numbers of 16 bits.
  struct Rows {
    HWY_ALIGN int16_t scale[kLanes][16];
  };
  static HWY_INLINE Rows look_at(const uint8_t* const* rows, size_t block) {
    Rows all;
    const hn::Rebind<int8_t, D16> narrow;
    for (size_t r = 0; r < kLanes; ++r) {
      const auto* from = reinterpret_cast<const int8_t*>(rows[r] + block * kBytes + 192);
      for (size_t i = 0; i < 16; i += hn::MaxLanes(D16())) {
        hn::Store(hn::PromoteTo(D16(), hn::LoadU(narrow, from + i)), D16(), all.scale[r] + i);
      }
    }
    return all;
  }
  static HWY_INLINE VF scales(const uint8_t* const* rows, size_t block) {
    return load_f16_of_rows(rows, block * kBytes + 208);
  }
  template <size_t kGroup>
  static HWY_INLINE V32 dot_of(const uint8_t* row, size_t block, const Rows& all, size_t r,
                               const GroupInput& input) {
    constexpr size_t kHalf = kGroup / 4, kQuarter = kGroup % 4;
    const uint8_t* at = row + block * kBytes;
    const Step low = load_step(at + 64 * kHalf + 32 * (kQuarter % 2));
    const Step high = load_step(at + 128 + 32 * kHalf);
    V32 sum = hn::Zero(D32());
    for (size_t p = 0; p < kParts; ++p) {
      const auto four = field < kQuarter<2 ? 0 : 4, 15>(low.part[p]);
      const auto two = two_bits_at_4<2 * kQuarter>(high.part[p]);
      sum = hn::Add(
          sum, dot_pairs(dot(hn::Or(four, two), input, p), spread_halves<kGroup>(all.scale[r], p)));
    }
    return sum;
  }
};

/// One token and kLanes rows.
template <class Format>
struct GroupRows {
  const uint8_t* rows[kLanes];
  const int8_t* x;
  const float* x_scales;
  size_t fetch_stride;  // bytes of all rows, per block

  template <size_t kGroup>
  HWY_INLINE void add_group(size_t block, const typename Format::Rows& all, VF scale,
                            VF& total) const {
    const size_t group = block * Format::kGroups + kGroup;
    const GroupInput input = load_input(x + group * kStepColumns, Format::kOffset);
    V32 sums[kLanes];
    HWY_UNROLL(8)
    for (size_t r = 0; r < kLanes; ++r) {
      sums[r] = Format::template dot_of<kGroup>(rows[r], block, all, r, input);
    }
    const auto scaled = hn::Mul(hn::ConvertTo(DF(), sums_of(sums)), scale);
    total = hn::Add(total, hn::Mul(scaled, hn::Set(DF(), x_scales[group])));
  }

  /// What the next rows will read, while this block is worked on.
  HWY_INLINE void fetch_next(size_t block) const {
    const uint8_t* from = rows[kLanes - 1] + kFetchAhead + block * fetch_stride;
    for (size_t at = 0; at < fetch_stride; at += 64) fetch_weights_here(from + at);
  }

  HWY_INLINE VF multiply(size_t blocks) const {
    VF total = hn::Zero(DF());
    for (size_t block = 0; block < blocks; ++block) {
      fetch_next(block);
      const auto all = Format::look_at(rows, block);
      const auto scale = Format::scales(rows, block);
      add_group<0>(block, all, scale, total);
      if constexpr (Format::kGroups == 8) {
        add_group<1>(block, all, scale, total);
        add_group<2>(block, all, scale, total);
        add_group<3>(block, all, scale, total);
        add_group<4>(block, all, scale, total);
        add_group<5>(block, all, scale, total);
        add_group<6>(block, all, scale, total);
        add_group<7>(block, all, scale, total);
      }
    }
    return total;
  }
};

template <class Format>
void multiply_groups(const StoredGroupCall& call, size_t first, size_t last) {
  const size_t groups = call.weights.columns / kStepColumns;
  GroupRows<Format> lane_rows{};
  lane_rows.fetch_stride = kLanes * block_bytes(call.weights.format);
  for (size_t row = first; row < last; row += kLanes) {
    find_rows(call.weights, row, last, lane_rows.rows);
    for (size_t token = 0; token < call.x.tokens; ++token) {
      lane_rows.x = call.x.codes + token * call.x.stride;
      lane_rows.x_scales = call.x.scales + token * groups;
      HWY_ALIGN float totals[kLanes];
      hn::Store(lane_rows.multiply(groups / Format::kGroups), DF(), totals);
      std::memcpy(call.out + token * call.out_stride + row, totals,
                  std::min(kLanes, last - row) * sizeof(float));
    }
  }
}

void multiply_groups_of_format(const StoredGroupCall& call, size_t first, size_t last) {
  switch (call.weights.format) {
    case StoredFormat::q4_0: return multiply_groups<PlainGroups<Q4Codes>>(call, first, last);
    case StoredFormat::q8_0: return multiply_groups<PlainGroups<Q8Codes>>(call, first, last);
    default: return multiply_groups<Q6Groups>(call, first, last);
  }
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
