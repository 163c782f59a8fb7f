#include "tokenizer/charsmap.hpp"

#include <fmt/format.h>

#include <cstring>

namespace trilobite {
namespace {

// A unit of darts-clone's double array: bit 8 says that a value hangs below, bits 0-7 (and 31) hold
// the label, bits 10-30 the offset to the children, scaled by 256 if bit 9 is set.
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
uint32_t offset(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }
uint32_t value(uint32_t unit) { return unit & ~(1u << 31); }

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view blob) {
  Charsmap map;
  if (blob.empty()) return map;
  uint32_t trie_bytes = 0;
  if (blob.size() < sizeof(trie_bytes)) return fail("the normalisation rules end too soon");
  std::memcpy(&trie_bytes, blob.data(), sizeof(trie_bytes));
  blob.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes > blob.size() || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes == 0) {
    return fail(fmt::format("the normalisation rules announce a table of {} bytes, but have {}",
                            trie_bytes, blob.size()));
  }
  map.units_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(map.units_.data(), blob.data(), trie_bytes);
  map.replacements_ = blob.substr(trie_bytes);
  map.find_plain_ascii();
  return map;
}

/// Calls found(length, value) for every rule that `text` begins with, the shortest first, until it
/// returns false.
template <typename Found>
void Charsmap::search(std::string_view text, Found&& found) const {
  if (units_.empty()) return;
  size_t position = offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    position ^= byte;
    if (byte == 0 || position >= units_.size() || label(units_[position]) != byte) return;
    const uint32_t unit = units_[position];
    position ^= offset(unit);
    if (position >= units_.size()) return;
    if (has_leaf(unit) && !found(i + 1, value(units_[position]))) return;
  }
}

std::string_view Charsmap::replacement(uint32_t where) const {
  if (where >= replacements_.size()) return {};
  return replacements_.data() + where;  // the string's own end is a zero, too
}

Charsmap::Match Charsmap::longest(std::string_view text) const {
  Match match;
  search(text, [&](size_t length, uint32_t where) {
    match = {length, replacement(where)};
    return true;
  });
  return match;
}

Charsmap::Match Charsmap::shortest(std::string_view text) const {
  Match match;
  search(text, [&](size_t length, uint32_t where) {
    match = {length, replacement(where)};
    return false;
  });
  return match;
}

void Charsmap::find_plain_ascii() {
  for (uint32_t first = 1; first < 128; ++first) {
    const size_t node = offset(units_[0]) ^ first;
    if (node >= units_.size() || label(units_[node]) != first) {
      plain_.set(first);
      for (uint32_t second = 1; second < 128; ++second) plain_pairs_.set(first * 128 + second);
      continue;
    }
    if (has_leaf(units_[node])) continue;
    plain_.set(first);
    for (uint32_t second = 1; second < 128; ++second) {
      const size_t child = node ^ offset(units_[node]) ^ second;
      if (child >= units_.size() || label(units_[child]) != second)
        plain_pairs_.set(first * 128 + second);
    }
  }
}

}  // namespace trilobite
