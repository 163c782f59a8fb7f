#pragma once
// Hashes for the tables of this module. Not for hostile keys at scale: the tables are built from
// vocabularies, and the word cache replaces what collides.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace trilobite {

inline uint64_t load_u64(const char* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}
inline uint32_t load_u32(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

/// Both halves of the 128-bit product, folded.
inline uint64_t multiply_fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd constants with well-spread bits: the fractional parts of the golden ratio and of sqrt(2).
inline constexpr uint64_t kHashA = 0x9E3779B97F4A7C15;
inline constexpr uint64_t kHashB = 0x6A09E667F3BCC909;

/// Up to 16 bytes as two words that differ whenever the bytes do, given the same length.
struct ShortKey {
  uint64_t low;
  uint64_t high;
  bool operator==(const ShortKey&) const = default;
};
inline ShortKey short_key(const char* bytes, size_t size) {
  if (size >= 8) return {load_u64(bytes), load_u64(bytes + size - 8)};
  if (size >= 4) return {load_u32(bytes), load_u32(bytes + size - 4)};
  if (size == 0) return {0, 0};
  const auto at = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])); };
  return {at(0) | at(size / 2) << 8 | at(size - 1) << 16, 0};
}

inline uint64_t hash_key(const ShortKey& key, size_t size) {
  return multiply_fold(key.low ^ kHashA, key.high ^ kHashB ^ size);
}

inline uint64_t hash_bytes(std::string_view text) {
  const char* bytes = text.data();
  size_t size = text.size();
  uint64_t state = size * kHashA;
  for (; size > 16; bytes += 16, size -= 16)
    state = multiply_fold(load_u64(bytes) ^ kHashB, load_u64(bytes + 8) ^ state);
  return multiply_fold(hash_key(short_key(bytes, size), size) ^ state, kHashB);
}

}  // namespace trilobite
