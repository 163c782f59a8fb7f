#include "tokenizer/utf8.hpp"

#include <algorithm>

namespace trilobite::utf8 {
namespace {

constexpr Character kInvalid{unicode::kReplacement, 1};

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// Shortest form, no surrogate, within Unicode.
bool is_allowed(uint32_t code_point, size_t length) {
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  return code_point >= kLeast[length] && code_point <= unicode::kLastCodePoint &&
         (code_point < 0xD800 || code_point > 0xDFFF);
}

}  // namespace

Character detail::decode_multibyte(const char* text, size_t size) {
  const auto first = static_cast<uint8_t>(*text);
  const size_t length = first >= 0xF8 || first < 0xC0 ? 0 : length_by_first_byte(*text);
  if (length == 0 || length > size) return kInvalid;
  uint32_t code_point = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return kInvalid;
    code_point = code_point << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  if (!is_allowed(code_point, length)) return kInvalid;
  return {code_point, static_cast<uint32_t>(length)};
}

Character decode_last(std::string_view text) {
  for (size_t length = 2; length <= std::min<size_t>(4, text.size()); ++length) {
    const auto found = decode(text.substr(text.size() - length));
    if (found.length == length) return found;
  }
  return decode(text.substr(text.size() - 1));
}

size_t encode(uint32_t code_point, char* out) {
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<char>(0xC0 | code_point >> 6);
    out[1] = static_cast<char>(0x80 | (code_point & 0x3F));
    return 2;
  }
  if (!is_allowed(code_point, code_point < 0x10000 ? 3 : 4)) code_point = unicode::kReplacement;
  if (code_point < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code_point >> 12);
    out[1] = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (code_point & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code_point >> 18);
  out[1] = static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (code_point & 0x3F));
  return 4;
}

size_t incomplete_tail(std::string_view text) {
  for (size_t length = 1; length <= std::min<size_t>(3, text.size()); ++length) {
    const char byte = text[text.size() - length];
    if (is_continuation(byte)) continue;
    const auto first = static_cast<uint8_t>(byte);
    const bool may_begin = first >= 0xC2 && first <= 0xF4;
    return may_begin && length_by_first_byte(byte) > length ? length : 0;
  }
  return 0;
}

}  // namespace trilobite::utf8
