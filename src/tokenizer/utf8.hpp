#pragma once
// UTF-8 in and out, one character at a time. What is not UTF-8 reads as U+FFFD, one byte each.

#include <cstdint>
#include <string_view>

#include "tokenizer/unicode_tables.hpp"

namespace trilobite::utf8 {

struct Character {
  uint32_t code_point;
  uint32_t length;  // in bytes; 1 to 4

  /// A byte that belongs to no character.
  bool is_invalid() const { return length == 1 && code_point == unicode::kReplacement; }
};

namespace detail {
Character decode_multibyte(const char* text, size_t size);
}

/// The first character; `size` is at least 1.
inline Character decode(const char* text, size_t size) {
  const auto first = static_cast<uint8_t>(*text);
  if (first < 0x80) return {first, 1};
  return detail::decode_multibyte(text, size);
}
inline Character decode(std::string_view text) { return decode(text.data(), text.size()); }

/// The last character of a text that is not empty.
Character decode_last(std::string_view text);

/// Writes 1 to 4 bytes and returns how many. Surrogates and what lies above U+10FFFF become U+FFFD.
size_t encode(uint32_t code_point, char* out);

/// Bytes of the character that begins with `first`, by its high bits alone.
inline size_t length_by_first_byte(char first) {
  constexpr std::string_view kLengths("\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4", 16);
  return static_cast<size_t>(kLengths[static_cast<uint8_t>(first) >> 4]);
}

/// How many bytes at the end of `text` begin a character that is not complete yet; at most 3.
size_t incomplete_tail(std::string_view text);

}  // namespace trilobite::utf8
