#pragma once
// Charsmap: SentencePiece's precompiled normalisation rules. The file form is a double-array trie
// over the texts to replace (darts-clone's layout) followed by the replacements.

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite {

class Charsmap {
 public:
  struct Match {
    size_t length = 0;  // of the text that a rule replaces; 0: no rule
    std::string_view replacement;
  };

  /// Rules that replace nothing.
  Charsmap() = default;
  /// 4 bytes size of the trie, the trie, the replacements, each ended by a zero.
  static Result<Charsmap> parse(std::string_view blob);

  bool is_empty() const { return units_.empty(); }
  /// The rule for the longest beginning of `text`.
  Match longest(std::string_view text) const;
  /// The rule for the shortest beginning of `text`.
  Match shortest(std::string_view text) const;
  /// No rule begins with these two ASCII characters, and none is the first alone.
  bool keeps(char first, char second) const {
    return plain_pairs_[static_cast<size_t>(first) * 128 + static_cast<size_t>(second)];
  }
  bool keeps(char only) const { return plain_[static_cast<size_t>(only)]; }

 private:
  template <typename Found>
  void search(std::string_view text, Found&& found) const;
  std::string_view replacement(uint32_t value) const;
  void find_plain_ascii();

  std::vector<uint32_t> units_;
  std::string replacements_;
  std::bitset<128 * 128> plain_pairs_;
  std::bitset<128> plain_;
};

}  // namespace trilobite
