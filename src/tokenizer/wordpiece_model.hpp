#pragma once
// WordPiece: from the front, the longest piece that fits; a word that cannot be covered is unknown
// as a whole.

#include "tokenizer/piece_trie.hpp"
#include "tokenizer/word_model.hpp"

namespace trilobite {

class WordPieceModel final : public WordModel {
 public:
  struct Definition {
    std::vector<PieceTrie::Entry> beginnings;     // pieces that begin a word
    std::vector<PieceTrie::Entry> continuations;  // pieces within it, without their "##"
    TokenId unk = -1;                             // -1: unknown words are left out
    size_t most_characters = 100;                 // longer words are unknown
  };
  explicit WordPieceModel(Definition definition)
      : beginnings_(std::move(definition.beginnings)),
        continuations_(std::move(definition.continuations)),
        unk_(definition.unk),
        most_characters_(definition.most_characters) {}

  void encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const override;

 private:
  PieceTrie beginnings_;
  PieceTrie continuations_;
  TokenId unk_;
  size_t most_characters_;
};

}  // namespace trilobite
