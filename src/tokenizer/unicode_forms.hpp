#pragma once
// The four normalisation forms of Unicode (UAX 15).

#include <cstdint>
#include <string>
#include <string_view>

#include "tokenizer/aligned_text.hpp"
#include "tokenizer/unicode_tables.hpp"

namespace trilobite {

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

/// Appends `text` in the given form. Invalid bytes become U+FFFD.
void normalize(UnicodeForm form, const AlignedView& text, AlignedText& out);
std::string normalize(UnicodeForm form, std::string_view text);

/// Calls `sink(code_point)` for each part of the full canonical decomposition.
template <typename Sink>
void decompose_canonically(uint32_t code_point, Sink&& sink);

namespace detail {
inline constexpr uint32_t kHangulBase = 0xAC00;
inline constexpr uint32_t kHangulCount = 11172;
inline constexpr uint32_t kLeadBase = 0x1100;
inline constexpr uint32_t kVowelBase = 0x1161;
inline constexpr uint32_t kTrailBase = 0x11A7;
inline constexpr uint32_t kVowels = 21;
inline constexpr uint32_t kTrails = 28;

template <typename Sink>
void decompose(uint32_t code_point, uint16_t offset, Sink&& sink) {
  if (const uint32_t hangul = code_point - kHangulBase; hangul < kHangulCount) {
    sink(kLeadBase + hangul / (kVowels * kTrails));
    sink(kVowelBase + hangul % (kVowels * kTrails) / kTrails);
    if (hangul % kTrails != 0) sink(kTrailBase + hangul % kTrails);
  } else if (offset == 0) {
    sink(code_point);
  } else {
    const uint32_t* parts = unicode::tables::kDecompositions + offset;
    for (uint32_t i = 1; i <= parts[0]; ++i) sink(parts[i]);
  }
}
}  // namespace detail

template <typename Sink>
void decompose_canonically(uint32_t code_point, Sink&& sink) {
  detail::decompose(code_point, unicode::tables::kCanonicalOffsets[code_point],
                    std::forward<Sink>(sink));
}

}  // namespace trilobite
