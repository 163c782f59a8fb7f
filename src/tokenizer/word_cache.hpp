#pragma once
// WordCache: the ids of words seen before. Direct-mapped and of fixed size: a word that falls on an
// occupied place replaces what was there, so it never grows and needs no bookkeeping. Natural text
// repeats its words so much that encoding becomes mostly lookups here.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/hash_bytes.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// Words of `kShortest` to `kLongest` bytes (a multiple of 8), with at most `kMostTokens` tokens.
template <size_t kShortest, size_t kLongest, size_t kMostTokens>
class WordTable {
 public:
  static constexpr size_t kKeyWords = kLongest / 8;
  using Key = std::array<uint64_t, kKeyWords>;

  struct Entry {
    Key key;
    std::array<TokenId, kMostTokens> ids;
    uint16_t length;
    uint16_t count;  // of tokens; 0: empty

    bool holds(std::string_view word, const Key& wanted) const {
      return count != 0 && length == word.size() && key == wanted;
    }
    std::span<const TokenId> tokens() const { return {ids.data(), count}; }
    void fill(std::string_view word, const Key& with, std::span<const TokenId> tokens) {
      if (tokens.empty() || tokens.size() > kMostTokens) return;
      key = with;
      length = static_cast<uint16_t>(word.size());
      count = static_cast<uint16_t>(tokens.size());
      std::ranges::copy(tokens, ids.begin());
    }
  };
  static_assert(sizeof(Entry) % 64 == 0);  // whole cache lines

  explicit WordTable(unsigned entry_bits)
      : shift_(64 - entry_bits), entries_(size_t{1} << entry_bits) {}

  static Key key_of(std::string_view word) {
    if constexpr (kShortest <= 16) {
      const auto key = short_key(word.data(), word.size());
      return {key.low, key.high};
    } else {
      Key key{};
      for (size_t i = 0; 8 * (i + 1) < word.size(); ++i) key[i] = load_u64(word.data() + 8 * i);
      key[kKeyWords - 1] = load_u64(word.data() + word.size() - 8);
      return key;
    }
  }
  /// Where the word is or would be.
  Entry& place_of(std::string_view word, const Key& key) {
    uint64_t hash = word.size() * kHashA;
    for (size_t i = 0; i < kKeyWords; i += 2)
      hash = multiply_fold(key[i] ^ kHashA ^ hash, key[i + 1] ^ kHashB);
    return entries_[hash >> shift_];
  }

 private:
  unsigned shift_;
  std::vector<Entry> entries_;
};

/// One line for the words of most languages, two for those that take three bytes per letter.
using ShortWords = WordTable<0, 16, 11>;
using LongWords = WordTable<17, 48, 19>;

struct WordCache {
  ShortWords short_words{15};
  LongWords long_words{14};
};

}  // namespace trilobite
