#include "tokenizer/byte_alphabet.hpp"

#include <array>
#include <cstdint>

namespace trilobite {
namespace {

constexpr uint32_t kAlphabetEnd = 0x144;
constexpr int16_t kOutside = -1;

/// The byte for each character: printable Latin-1 is itself, the other 68 follow from U+0100 on.
constexpr std::array<int16_t, kAlphabetEnd> make_alphabet() {
  std::array<int16_t, kAlphabetEnd> bytes{};
  bytes.fill(kOutside);
  uint32_t next = 0x100;
  for (int16_t byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[printable ? static_cast<size_t>(byte) : size_t{next++}] = byte;
  }
  return bytes;
}
constexpr auto kAlphabet = make_alphabet();

/// All characters of the alphabet have one or two bytes.
int16_t byte_at(std::string_view text, size_t& i) {
  const auto first = static_cast<uint8_t>(text[i++]);
  if (first < 0x80) return kAlphabet[first];
  if (first < 0xC2 || first > 0xC5 || i == text.size()) return kOutside;
  const auto second = static_cast<uint8_t>(text[i++]);
  const uint32_t code_point = (first & 0x1Fu) << 6 | (second & 0x3Fu);
  return (second & 0xC0) == 0x80 && code_point < kAlphabetEnd ? kAlphabet[code_point] : kOutside;
}

}  // namespace

void append_bytes_of(std::string_view text, std::string& out) {
  const size_t before = out.size();
  for (size_t i = 0; i < text.size();) {
    const int16_t byte = byte_at(text, i);
    if (byte == kOutside) {
      out.resize(before);
      out += text;
      return;
    }
    out += static_cast<char>(byte);
  }
}

std::string bytes_of(std::string_view text) {
  std::string out;
  append_bytes_of(text, out);
  return out;
}

}  // namespace trilobite
