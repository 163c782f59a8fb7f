#pragma once
// Byte-pair encoding of a word: its first symbols, the merging, and what becomes of symbols that
// are no tokens.

#include <array>
#include <unordered_map>

#include "tokenizer/vocabulary.hpp"
#include "tokenizer/word_model.hpp"

namespace trilobite {

/// What a symbol that is in no vocabulary turns into.
struct UnknownPolicy {
  std::vector<TokenId> byte_tokens;  // 256 or none: one token per byte, -1 where there is none
  TokenId unk = -1;                  // -1: left out
  bool fuse = true;                  // a run of unknown symbols is one token
};

/// The first symbols of a word: its bytes, or its characters.
class SymbolTable {
 public:
  /// Byte-level: pieces of one byte are the symbols.
  static SymbolTable of_bytes(const Vocabulary& vocabulary);
  /// Pieces of one character are the symbols.
  static SymbolTable of_characters(const Vocabulary& vocabulary);

  bool is_byte_level() const { return is_byte_level_; }
  /// Symbols beyond the vocabulary: characters that are no token but part of one.
  void add_character(uint32_t code_point, Symbol symbol);
  Symbol of_character(uint32_t code_point) const;
  /// Appends the symbols of text[from...] until at least `count` were added or the text ends;
  /// returns the position reached.
  size_t append(std::string_view text, size_t from, size_t count,
                std::vector<SizedSymbol>& symbols) const;

 private:
  bool is_byte_level_ = true;
  std::array<Symbol, 256> bytes_{};  // of bytes, or of ASCII characters
  std::unordered_map<uint32_t, Symbol> characters_;
};

class BpeModel final : public WordModel {
 public:
  struct Definition {
    const Vocabulary* vocabulary;  // outlives the model
    SymbolTable symbols;
    MergeTable merges;
    UnknownPolicy unknown;
    /// A word that is in the vocabulary is that token, whatever the merges say.
    bool whole_words_first = false;
  };
  explicit BpeModel(Definition definition) : d_(std::move(definition)) {}

  void encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const override;
  /// The same with the obvious algorithm, for tests.
  void encode_slowly(std::string_view word, TokenSink& sink) const;

 private:
  void emit(std::span<const SizedSymbol> symbols, std::string_view word, TokenSink& sink) const;
  size_t emit_unknown(std::span<const SizedSymbol> run, std::string_view text,
                      TokenSink& sink) const;
  bool is_token(Symbol symbol) const {
    return symbol >= 0 && static_cast<size_t>(symbol) < d_.vocabulary->size();
  }
  void encode_in_windows(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const;

  Definition d_;
};

}  // namespace trilobite
