#pragma once
// Unigram: of all ways to cut a text into pieces, the one with the highest sum of scores.

#include "tokenizer/bpe_model.hpp"
#include "tokenizer/piece_trie.hpp"
#include "tokenizer/word_model.hpp"

namespace trilobite {

class UnigramModel final : public WordModel {
 public:
  struct Definition {
    std::vector<PieceTrie::Entry> pieces;
    std::vector<double> scores;  // by id
    double unk_score = 0;
    UnknownPolicy unknown;
    /// SentencePiece keeps sums in single precision and so decides close calls by how much text
    /// came before; Hugging Face keeps them in double precision.
    bool single_precision = false;
  };
  explicit UnigramModel(Definition definition)
      : trie_(std::move(definition.pieces)),
        scores_(std::move(definition.scores)),
        unk_score_(definition.unk_score),
        unknown_(std::move(definition.unknown)),
        single_precision_(definition.single_precision) {}

  void encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const override;

 private:
  template <typename Score>
  class Search;

  PieceTrie trie_;
  std::vector<double> scores_;
  double unk_score_;
  UnknownPolicy unknown_;
  bool single_precision_;
};

}  // namespace trilobite
