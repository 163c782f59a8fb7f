#pragma once
// WordModel: how a word that a pre-tokeniser has cut becomes tokens. One implementation per kind of
// vocabulary.

#include <memory>
#include <string_view>
#include <vector>

#include "tokenizer/bpe_merge.hpp"
#include "tokenizer/word_cache.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// The best segmentation of a text up to one of its positions.
struct PathNode {
  double score = 0;
  TokenId id = -1;
  uint32_t length = 0;  // bytes of its last token; 0: not reached
};

/// Buffers of one encoding at a time.
struct ModelBuffers {
  std::vector<SizedSymbol> symbols;
  std::vector<SizedSymbol> tokens;  // of a long word, so far
  MergeBuffers merge;
  std::vector<PathNode> path;
};

/// Where tokens go. `lengths` may be nullptr; else it gets the bytes that each token covers.
struct TokenSink {
  std::vector<TokenId>* ids;
  std::vector<uint32_t>* lengths = nullptr;

  void add(TokenId id, size_t bytes) {
    ids->push_back(id);
    if (lengths != nullptr) lengths->push_back(static_cast<uint32_t>(bytes));
  }
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Appends the tokens of `word`, which is not empty.
  virtual void encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const = 0;
};

}  // namespace trilobite
