#pragma once
// What several loaders need to turn their files into parts.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tokenizer/bpe_model.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {

/// Merge rules from pairs of pieces in the order of their ranks. A rule that names a piece which the
/// vocabulary lacks, or makes one, is an error.
class MergeListBuilder {
 public:
  MergeListBuilder(const Vocabulary& vocabulary, size_t expected)
      : vocabulary_(vocabulary), table_(expected) {}
  Result<void> add(std::string_view left, std::string_view right);
  /// "left right", in GPT-2's byte alphabet when `byte_level`.
  Result<void> add_line(std::string_view line, bool byte_level);
  MergeTable take() { return std::move(table_); }

 private:
  Result<TokenId> find(std::string_view piece) const;
  const Vocabulary& vocabulary_;
  MergeTable table_;
  uint32_t rank_ = 0;
  TokenId last_result_ = -1;
  std::string buffer_;
};

/// The rules of SentencePiece's BPE: any two symbols merge whose texts together are a piece, those
/// with higher scores first. Adds the characters that are no pieces to `symbols`.
Result<MergeTable> merges_by_score(const Vocabulary& vocabulary, SymbolTable& symbols);
/// tiktoken's rules: as above, those with lower ids first.
MergeTable merges_by_id(const Vocabulary& vocabulary, SymbolTable& symbols);

/// Sets the parts of a byte-level BPE tokenizer that all sources share.
void set_byte_level_model(Tokenizer::Parts& parts, MergeTable merges, bool whole_words_first);

struct SentencePieceOptions {
  bool byte_fallback = true;
  SentencePieceRules rules;  // user_defined is filled from the vocabulary
};
/// Normaliser, splits, model and decoder of SentencePiece's BPE and Unigram.
Result<void> set_sentencepiece_bpe(Tokenizer::Parts& parts, SentencePieceOptions options);
void set_sentencepiece_unigram(Tokenizer::Parts& parts, SentencePieceOptions options);

struct BertOptions {
  std::string_view continuation = "##";
  std::string_view beginning;  // GGUF marks the words instead of their continuations
  size_t most_characters = 100;
};
/// WordPiece model and decoder over the pieces of the vocabulary.
void set_wordpiece_model(Tokenizer::Parts& parts, const BertOptions& options);

/// Every control token can be parsed from text; with `user_defined`, these are always found.
void add_control_tokens(Tokenizer::Parts& parts, bool user_defined);
/// eos, eot and every token with a name that chat models end their turns with.
void find_end_of_generation(Tokenizer::Parts& parts);
/// The id of a control token of that name.
std::optional<TokenId> find_control(const Vocabulary& vocabulary, std::string_view piece);

}  // namespace trilobite
