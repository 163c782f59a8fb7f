#pragma once
// Encoder: one text through the parts of a tokenizer. A Workspace is what it needs besides; reusing
// one makes encoding free of allocations, and its cache knows the words of earlier texts.

#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {

struct Workspace {
  NormalizeBuffers normalized;
  NormalizeBuffers rewritten;
  ModelBuffers model;
  WordCache cache;
  std::vector<uint32_t> lengths;

  /// After a huge text: gives back what would otherwise be kept for the next one.
  void shrink();
};

/// Appends ids, and offsets unless `offsets` is nullptr.
struct EncodeTarget {
  std::vector<TokenId>& ids;
  std::vector<ByteRange>* offsets = nullptr;
};
void encode(const Tokenizer::Parts& parts, std::string_view text, EncodeOptions options,
            Workspace& workspace, const EncodeTarget& target);

}  // namespace trilobite
