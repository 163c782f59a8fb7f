#pragma once
// Properties of Unicode characters as compact tables. They are made while building, by
// make_unicode_tables.cpp from Debian's utf8proc, so that the library itself needs no Unicode
// library and a lookup costs two loads.

#include <array>
#include <cstdint>
#include <span>

namespace trilobite::unicode {

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;
inline constexpr uint32_t kReplacement = 0xFFFD;

/// What pre-tokenisers ask of a character, as bits.
enum CharClass : uint8_t {
  kLetter = 1,           // general category L*
  kNumber = 2,           // N*
  kSpace = 4,            // White_Space
  kPunctuation = 8,      // P*
  kNonspacingMark = 16,  // Mn
  kOther = 32,           // Cc, Cf, Co (not: unassigned)
  kWord = 64,            // \w of regular expressions
  kMark = 128,           // M*
};

/// How a character joins its neighbours to one user-perceived character (UAX 29).
enum class GraphemeClass : uint8_t {
  other,
  cr,
  lf,
  control,
  extend,
  zero_width_joiner,
  regional_indicator,
  prepend,
  spacing_mark,
  hangul_l,
  hangul_v,
  hangul_t,
  hangul_lv,
  hangul_lvt,
  pictographic,
};

namespace tables {
inline constexpr unsigned kBlockBits = 7;
inline constexpr uint32_t kBlockSize = 1u << kBlockBits;
inline constexpr uint32_t kBlocks = (kLastCodePoint + 1) / kBlockSize;

/// Two-stage table: `index` says which of the distinct blocks holds a character's value.
template <typename T>
struct TwoStage {
  const uint16_t* index;
  const T* values;
  T operator[](uint32_t code_point) const {
    return values[index[code_point >> kBlockBits] * kBlockSize + (code_point & (kBlockSize - 1))];
  }
};

struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
};

extern const TwoStage<uint8_t> kClasses;
extern const TwoStage<uint8_t> kCombiningClasses;
extern const TwoStage<uint8_t> kGraphemeClasses;
extern const TwoStage<int32_t> kLowerDeltas;
extern const TwoStage<uint16_t> kCanonicalOffsets;        // into kDecompositions; 0: itself
extern const TwoStage<uint16_t> kCompatibilityOffsets;    // likewise
extern const uint32_t kDecompositions[];                  // length, then that many code points
extern const std::span<const Composition> kCompositions;  // sorted by first, then second
}  // namespace tables

inline uint8_t class_of(uint32_t code_point) { return tables::kClasses[code_point]; }
inline uint8_t combining_class(uint32_t code_point) {
  return tables::kCombiningClasses[code_point];
}
inline GraphemeClass grapheme_class(uint32_t code_point) {
  return static_cast<GraphemeClass>(tables::kGraphemeClasses[code_point]);
}
/// Simple lower-case mapping: one character to one.
inline uint32_t to_lower(uint32_t code_point) {
  return code_point + static_cast<uint32_t>(tables::kLowerDeltas[code_point]);
}

}  // namespace trilobite::unicode
