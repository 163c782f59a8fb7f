#include "quant/group_layout.hpp"

#include <algorithm>

namespace trilobite::quant {
namespace {

// In every format byte b of a word belongs to columns b, b + 4, ... of the unit.

/// Code + 8: the first quad in the low, the second in the high nibbles.
void write_four_bits(const int8_t* codes, uint8_t* word) {
  for (size_t b = 0; b < kQuad; ++b) {
    word[b] = static_cast<uint8_t>((codes[b] + 8) | (codes[b + kQuad] + 8) << 4);
  }
}
void read_four_bits(const uint8_t* word, int8_t* codes) {
  for (size_t b = 0; b < kQuad; ++b) {
    codes[b] = static_cast<int8_t>((word[b] & 15) - 8);
    codes[b + kQuad] = static_cast<int8_t>((word[b] >> 4) - 8);
  }
}

/// Code + 32: the first three quads in the low six bits of the three words. The fourth is spread
/// over the bits above them, lowest two bits first: three of four quads decode with one mask.
void write_six_bits(const int8_t* codes, uint8_t* word) {
  for (size_t b = 0; b < kQuad; ++b) {
    const int spread = codes[b + 3 * kQuad] + 32;
    for (size_t block = 0; block < 3; ++block) {
      const int part = spread >> (2 * block) & 3;
      word[block * kTileBlockBytes + b] =
          static_cast<uint8_t>((codes[b + block * kQuad] + 32) | part << 6);
    }
  }
}
void read_six_bits(const uint8_t* word, int8_t* codes) {
  for (size_t b = 0; b < kQuad; ++b) {
    int spread = 0;
    for (size_t block = 0; block < 3; ++block) {
      const int byte = word[block * kTileBlockBytes + b];
      codes[b + block * kQuad] = static_cast<int8_t>((byte & 63) - 32);
      spread |= byte >> 6 << (2 * block);
    }
    codes[b + 3 * kQuad] = static_cast<int8_t>(spread - 32);
  }
}

/// Two's complement, a word for each quad.
void write_eight_bits(const int8_t* codes, uint8_t* word) {
  std::copy_n(codes, kQuad, word);
  std::copy_n(codes + kQuad, kQuad, word + kTileBlockBytes);
}
void read_eight_bits(const uint8_t* word, int8_t* codes) {
  std::copy_n(word, kQuad, codes);
  std::copy_n(word + kTileBlockBytes, kQuad, codes + kQuad);
}

}  // namespace

void write_unit(GroupBits bits, const int8_t* codes, uint8_t* word) {
  switch (bits) {
    case GroupBits::four: return write_four_bits(codes, word);
    case GroupBits::six: return write_six_bits(codes, word);
    case GroupBits::eight: return write_eight_bits(codes, word);
  }
}

void read_unit(GroupBits bits, const uint8_t* word, int8_t* codes) {
  switch (bits) {
    case GroupBits::four: return read_four_bits(word, codes);
    case GroupBits::six: return read_six_bits(word, codes);
    case GroupBits::eight: return read_eight_bits(word, codes);
  }
}

}  // namespace trilobite::quant
