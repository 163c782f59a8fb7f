#pragma once
// SpaceCuts: where a text for SentencePiece BPE may be cut without changing its tokens.
// SentencePiece merges over the whole text, but two neighbouring characters that stand together in
// no piece can never end up in one token, so the text falls apart between them.

#include <bitset>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace trilobite {

class Vocabulary;

class SpaceCuts {
 public:
  /// Looks at every piece of the vocabulary.
  explicit SpaceCuts(const Vocabulary& vocabulary);

  /// The end of the piece that begins at `begin`: the next cut, or the end of the text. Cuts are
  /// looked for between ASCII characters and before "▁".
  size_t next_cut(std::string_view text, size_t begin) const;

 private:
  bool may_join(char left, char right) const {
    return ascii_pairs_[static_cast<size_t>(left) * 128 + static_cast<size_t>(right)];
  }
  // Stand together in some piece, or are both unknown, which makes one token of them.
  std::bitset<128 * 128> ascii_pairs_;
  bool marker_is_known_ = false;
  std::unordered_set<uint32_t> before_marker_;  // characters with "▁" after them in some piece
};

}  // namespace trilobite
