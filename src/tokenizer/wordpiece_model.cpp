#include "tokenizer/wordpiece_model.hpp"

#include <algorithm>

namespace trilobite {
namespace {

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

struct Longest {
  size_t length = 0;
  int32_t id = -1;
};

Longest longest_piece(const PieceTrie& trie, std::string_view text) {
  Longest found;
  PieceTrie::Cursor cursor(trie);
  for (size_t i = 0; i < text.size() && cursor.step(text[i]); ++i) {
    if (cursor.value() >= 0) found = {i + 1, cursor.value()};
  }
  return found;
}

}  // namespace

void WordPieceModel::encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const {
  auto& pieces = buffers.symbols;
  pieces.clear();
  const bool too_long = count_characters(word) > most_characters_;
  for (size_t i = 0; i < word.size() && !too_long;) {
    const auto found = longest_piece(i == 0 ? beginnings_ : continuations_, word.substr(i));
    if (found.length == 0) {
      pieces.clear();
      break;
    }
    pieces.push_back({found.id, static_cast<uint32_t>(found.length)});
    i += found.length;
  }
  if (pieces.empty() && unk_ >= 0) sink.add(unk_, word.size());
  for (const auto& piece : pieces) sink.add(piece.symbol, piece.bytes);
}

}  // namespace trilobite
