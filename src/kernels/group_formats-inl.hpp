// What the groups of each layout consist of, for one Highway target (hence no #pragma once). A
// `Format` says for the kernels of group_tile-inl.hpp:
//   Codes, Sums          how codes are read and products summed (group_codes-inl.hpp)
//   kLayout              where everything is
//   kHasMinimum          whether rows have a minimum as well as a scale
//   factors(at, row)     scale and minimum of a vector of rows
//   start_word(...)      what the sum of a token starts with
//   kHasPairs            whether both halves of a group have scales of their own: pairs(at, row)

#if defined(TRILOBITE_KERNELS_GROUP_FORMATS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_GROUP_FORMATS_INL_HPP
#undef TRILOBITE_KERNELS_GROUP_FORMATS_INL_HPP
#else
#define TRILOBITE_KERNELS_GROUP_FORMATS_INL_HPP
#endif

#include "kernels/group_codes-inl.hpp"
#include "quant/block_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// One group of a panel.
struct PackedGroup {
  const uint8_t* super;   // header of its super-block
  const uint8_t* header;  // of the group
  const uint8_t* codes;
  size_t rows;  // of the panel, with padding
};

struct RowFactors {
  RowScales scale;
  RowScales minimum;  // where the format has one
};

/// What activations bring to one group of one token.
struct TokenSums {
  int32_t all;        // sum of the codes
  int32_t by_halves;  // sums over both halves of the group, 16 bits each, the first lowest
};

/// Row `row` of the f16 numbers that start at `from`, in the order of the rows.
HWY_INLINE RowScales load_f16_row(const uint8_t* from, size_t row) {
  return load_scales(reinterpret_cast<const Float16*>(from) + row);
}

/// GroupTiles: a scale for each row.
template <class Codes_>
struct ScaledGroups {
  using Codes = Codes_;
  using Sums = typename Codes::Sums;
  static constexpr auto kLayout = quant::layout_of(Codes::kBits);
  static constexpr bool kHasMinimum = false;
  static constexpr bool kHasPairs = false;
  static int32_t start_word(TokenSums sums) { return Sums::start_word(Codes::kOffset * sums.all); }
  static HWY_INLINE RowFactors factors(const PackedGroup& at, size_t row) {
    const auto scale = load_f16_row(at.header, row);
    return {scale, scale};
  }
};

template <class Dot>
struct Q4_1Groups {
  using Codes = FourBits<Dot>;
  using Sums = typename Codes::Sums;
  static constexpr auto kLayout = quant::layout_of(quant::TiledBlocks::q4_1);
  static constexpr bool kHasMinimum = true;
  static constexpr float kMinimumSign = 1;
  static constexpr bool kHasPairs = false;
  static int32_t start_word(TokenSums) { return 0; }
  static HWY_INLINE RowFactors factors(const PackedGroup& at, size_t row) {
    return {load_f16_row(at.header, row), load_f16_row(at.header + at.rows * sizeof(Float16), row)};
  }
};

/// Eleven bits times six are exact in f32.
template <class Dot>
struct Q4_KGroups {
  using Codes = FourBits<Dot>;
  using Sums = typename Codes::Sums;
  static constexpr auto kLayout = quant::layout_of(quant::TiledBlocks::q4_k);
  static constexpr bool kHasMinimum = true;
  static constexpr float kMinimumSign = -1;
  static constexpr bool kHasPairs = false;
  static int32_t start_word(TokenSums) { return 0; }
  static HWY_INLINE RowFactors factors(const PackedGroup& at, size_t row) {
    return {multiply_scales(load_f16_row(at.super, row), load_scales(at.header + row)),
            multiply_scales(load_f16_row(at.super + at.rows * sizeof(Float16), row),
                            load_scales(at.header + at.rows + row))};
  }
};

template <class Dot>
struct Q6_KGroups {
  using Codes = SixBits<Dot>;
  using Sums = HalfScaledSums<Dot>;
  static constexpr auto kLayout = quant::layout_of(quant::TiledBlocks::q6_k);
  static constexpr bool kHasMinimum = false;
  static constexpr bool kHasPairs = true;
  static int32_t start_word(TokenSums sums) { return sums.by_halves; }
  static HWY_INLINE RowFactors factors(const PackedGroup& at, size_t row) {
    const auto scale = load_f16_row(at.super, row);
    return {scale, scale};
  }
  static HWY_INLINE Words pairs(const PackedGroup& at, size_t row) {
    return load_pairs(reinterpret_cast<const int8_t*>(at.header) + 2 * row);
  }
};

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
