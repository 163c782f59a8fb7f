#include "report/display_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace trilobite {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;
  bool valid = false;
};

/// Reads the character at the start of `text`, which is not empty. Overlong forms, surrogates and
/// values above U+10FFFF are invalid and take one byte.
CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t value = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t value) {
  return std::ranges::any_of(ranges, [&](Range r) { return value >= r.first && value <= r.last; });
}

// The large blocks of Unicode's EastAsianWidth.txt (W and F) and of the marks that take no column.
// Rare scripts are missing: a benchmark's name in one of them is misaligned, not lost.
constexpr std::array<Range, 12> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0xA4CF},
                                          {0xA960, 0xA97F},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F680, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 10> kZeroWidth = {{{0x0300, 0x036F},
                                               {0x0483, 0x0489},
                                               {0x0591, 0x05BD},
                                               {0x064B, 0x065F},
                                               {0x1AB0, 0x1AFF},
                                               {0x1DC0, 0x1DFF},
                                               {0x200B, 0x200D},
                                               {0x20D0, 0x20FF},
                                               {0xFE00, 0xFE0F},
                                               {0xFE20, 0xFE2F}}};
// Marks, embeddings, overrides and isolates: with them a name could rearrange the rest of its line.
constexpr std::array<Range, 5> kDirection = {
    {{0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}}};
constexpr std::array<Range, 3> kControl = {{{0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}}};

size_t width_of(char32_t value) {
  if (value < kZeroWidth[0].first) return 1;  // nearly all text
  if (is_in(kZeroWidth, value)) return 0;
  return is_in(kWide, value) ? 2 : 1;
}

/// The longest beginning that takes at most `width` columns.
std::string_view beginning(std::string_view text, size_t width) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const auto next = decode(text.substr(at));
    used += width_of(next.value);
    if (used > width) break;
    at += next.bytes;
  }
  return text.substr(0, at);
}

/// The longest ending that takes at most `width` columns.
std::string_view ending(std::string_view text, size_t width) {
  size_t to_drop = display_width(text);
  size_t at = 0;
  while (to_drop > width) {
    const auto next = decode(text.substr(at));
    to_drop -= width_of(next.value);
    at += next.bytes;
  }
  return text.substr(at);
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto next = decode(text);
    result += next.valid ? text.substr(0, next.bytes) : kReplacement;
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto next = decode(text);
    if (!next.valid) {
      result += kReplacement;
    } else if (is_in(kControl, next.value)) {
      result += ' ';
    } else if (!is_in(kDirection, next.value)) {
      result += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return result;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const auto next = decode(text);
    width += width_of(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string shortened_in_the_middle(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const size_t kept = width - 1;
  // The end of an id (its shape) tells more than its beginning (its suite).
  const size_t back = (kept + 1) / 2;
  std::string result(beginning(text, kept - back));
  result += kEllipsis;
  result += ending(text, back);
  return result;
}

std::string shortened_at_the_end(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(beginning(text, width - 1)) + std::string(kEllipsis);
}

std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent) {
  if (width == 0) return {std::string(text)};
  indent = std::min(indent, width / 2);
  std::vector<std::string> lines(1);
  size_t used = 0;
  bool line_has_words = false;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;  // several blanks are one
    if (line_has_words && used + 1 + display_width(word) > width) {
      lines.emplace_back(indent, ' ');
      used = indent;
      line_has_words = false;
    }
    const auto shown = shortened_in_the_middle(word, width - used - (line_has_words ? 1 : 0));
    if (line_has_words) lines.back() += ' ';
    lines.back() += shown;
    used += display_width(shown) + (line_has_words ? 1 : 0);
    line_has_words = true;
  }
  return lines;
}

}  // namespace trilobite
