#include "kernels/stored_product.hpp"

#include <algorithm>
#include <cstring>

#include "base/float16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stored_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/fetch-inl.hpp"
#include "kernels/stored_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// 128 columns in 32 bytes: the four codes of a byte are 32 columns apart.
inline constexpr size_t kChunkColumns = 128;

struct Tq2Chunks {
  static constexpr bool kFirstIsLowest = true;
  static size_t at(size_t chunk) { return chunk / 2 * 66 + chunk % 2 * 32; }
};
struct I2sChunks {
  static constexpr bool kFirstIsLowest = false;
  static size_t at(size_t chunk) { return chunk * 32; }
};

HWY_INLINE void store_ternary(const StoredTernaryCall& call, size_t token, size_t row,
                              int32_t total) {
  const float weight_scale = call.row_scales == nullptr ? call.scale : call.row_scales[row];
  call.out[token * call.out_stride + row] =
      static_cast<float>(total - call.x.sums[token]) * weight_scale * call.x.scales[token];
}

#ifdef TRILOBITE_STORED_VECTORS

/// How far ahead of the arithmetic memory is fetched.
inline constexpr size_t kFetchAhead = 8 * 1024;
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
    fetch_into_l2(rows[0] + kFetchAhead + chunk * kTernaryRows * 32);
    fetch_into_l2(rows[0] + kFetchAhead + chunk * kTernaryRows * 32 + 64);
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

/// Pointers to `count` rows from `first` on; the last one stands in for those that do not exist.
template <size_t kCount>
HWY_INLINE void find_rows(const StoredRows& weights, size_t first, size_t last,
                          const uint8_t* (&rows)[kCount]) {
  for (size_t r = 0; r < kCount; ++r) {
    rows[r] = weights.data + std::min(first + r, last - 1) * weights.row_bytes();
  }
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
    for (size_t at = 0; at < fetch_stride; at += 64) fetch_into_l2(from + at);
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

#else

// Plain C++, column after column: what everything else is compared with.
template <class Chunks>
void multiply_ternary(const StoredTernaryCall& call, size_t first, size_t last) {
  for (size_t row = first; row < last; ++row) {
    const uint8_t* bytes = call.weights.data + row * call.weights.row_bytes();
    for (size_t token = 0; token < call.x.tokens; ++token) {
      const int8_t* x = call.x.codes + token * call.x.stride;
      int32_t total = 0;
      for (size_t c = 0; c < call.weights.columns; ++c) {
        const size_t plane = c % kChunkColumns / 32;
        const size_t shift = 2 * (Chunks::kFirstIsLowest ? plane : 3 - plane);
        total += (bytes[Chunks::at(c / kChunkColumns) + c % 32] >> shift & 3) * x[c];
      }
      store_ternary(call, token, row, total);
    }
  }
}

/// The sum over a group of weight (with its int8 scale, where there is one) times activation.
int32_t plain_dot(StoredFormat format, const uint8_t* block, size_t group, const int8_t* x) {
  int32_t sum = 0;
  for (size_t i = 0; i < kStepColumns; ++i) {
    int32_t weight = 0;
    if (format == StoredFormat::q4_0) {
      weight = (block[2 + i % 16] >> (i < 16 ? 0 : 4) & 15) - 8;
    } else if (format == StoredFormat::q8_0) {
      weight = static_cast<int8_t>(block[2 + i]);
    } else {
      const size_t half = group / 4, quarter = group % 4;
      const int low = block[64 * half + 32 * (quarter % 2) + i] >> (quarter < 2 ? 0 : 4) & 15;
      const int high = block[128 + 32 * half + i] >> 2 * quarter & 3;
      weight = (low + 16 * high - 32) * static_cast<int8_t>(block[192 + 2 * group + i / 16]);
    }
    sum += weight * x[i];
  }
  return sum;
}

void multiply_groups_of_format(const StoredGroupCall& call, size_t first, size_t last) {
  const auto format = call.weights.format;
  const size_t groups = call.weights.columns / kStepColumns;
  const size_t block_groups = block_columns(format) / kStepColumns;
  for (size_t row = first; row < last; ++row) {
    for (size_t token = 0; token < call.x.tokens; ++token) {
      float total = 0;
      for (size_t g = 0; g < groups; ++g) {
        const uint8_t* block = call.weights.data + row * call.weights.row_bytes() +
                               g / block_groups * block_bytes(format);
        Float16 scale;
        std::memcpy(&scale, block + (format == StoredFormat::q6_k ? 208 : 0), sizeof(scale));
        const int8_t* x = call.x.codes + token * call.x.stride + g * kStepColumns;
        const auto sum = static_cast<float>(plain_dot(format, block, g % block_groups, x));
        total += sum * scale.to_float() * call.x.scales[token * groups + g];
      }
      call.out[token * call.out_stride + row] = total;
    }
  }
}

#endif

void stored_ternary_for_target(const StoredTernaryCall& call, size_t first, size_t last) {
  if (call.weights.format == StoredFormat::tq2_0) {
    return multiply_ternary<Tq2Chunks>(call, first, last);
  }
  multiply_ternary<I2sChunks>(call, first, last);
}
void stored_group_for_target(const StoredGroupCall& call, size_t first, size_t last) {
  multiply_groups_of_format(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(stored_ternary_for_target);
HWY_EXPORT(stored_group_for_target);

void stored_ternary_product(const StoredTernaryCall& call, size_t first, size_t last) {
  if (first < last) HWY_DYNAMIC_DISPATCH(stored_ternary_for_target)(call, first, last);
}
void stored_group_product(const StoredGroupCall& call, size_t first, size_t last) {
  if (first < last) HWY_DYNAMIC_DISPATCH(stored_group_for_target)(call, first, last);
}

}  // namespace trilobite::kernels
#endif
