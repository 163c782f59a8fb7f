#pragma once
// What several loaders need to turn their files into parts.

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tokenizer/bpe_model.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {

/// Merge rules from pairs of pieces in the order of their ranks. A rule that names a piece which
/// the vocabulary lacks, or makes one, is an error. Rules are worked on in blocks, so that the
/// searches of one block wait for memory together and not one after the other.
class MergeListBuilder {
 public:
  MergeListBuilder(const Vocabulary& vocabulary, size_t expected, bool byte_level)
      : vocabulary_(vocabulary), byte_level_(byte_level), table_(expected) {}
  /// In GPT-2's byte alphabet when byte-level.
  void add_pair(std::string_view left, std::string_view right);
  /// "left right".
  void add_line(std::string_view line);
  /// The first problem, or the rules.
  Result<MergeTable> finish();

 private:
  static constexpr size_t kBlock = 32;
  struct Pending {
    std::string text;  // both pieces
    size_t cut = 0;
    Vocabulary::Probe left;
    Vocabulary::Probe right;
    Symbol left_id = kUnknownSymbol;
    Symbol right_id = kUnknownSymbol;
    Symbol result = kUnknownSymbol;
  };
  void append(std::string_view piece, std::string& text) const;
  void work_off();
  void look_up(Pending& pending);
  TokenId find(const Vocabulary::Probe& probe);

  const Vocabulary& vocabulary_;
  bool byte_level_;
  MergeTable table_;
  uint32_t rank_ = 0;
  TokenId last_result_ = -1;
  std::array<Pending, kBlock> pending_;
  size_t waiting_ = 0;
  std::optional<Error> problem_;
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
