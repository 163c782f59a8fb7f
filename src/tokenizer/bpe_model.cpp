#include "tokenizer/bpe_model.hpp"

#include <algorithm>

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

/// Words of more symbols are merged window by window, so that the work stays in the cache and grows
/// linearly.
constexpr size_t kWindow = 2048;
constexpr size_t kFirstOverlap = 16;

}  // namespace

SymbolTable SymbolTable::of_bytes(const Vocabulary& vocabulary) {
  SymbolTable table;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    table.bytes_[byte] = vocabulary.find(std::string_view(&character, 1)).value_or(kUnknownSymbol);
  }
  return table;
}

SymbolTable SymbolTable::of_characters(const Vocabulary& vocabulary) {
  SymbolTable table;
  table.is_byte_level_ = false;
  table.bytes_.fill(kUnknownSymbol);
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto piece = vocabulary.piece(static_cast<TokenId>(i));
    if (piece.empty()) continue;
    const auto first = utf8::decode(piece);
    if (first.length != piece.size()) continue;
    if (const auto id = vocabulary.find(piece)) table.add_character(first.code_point, *id);
  }
  return table;
}

void SymbolTable::add_character(uint32_t code_point, Symbol symbol) {
  if (code_point < 128) {
    bytes_[code_point] = symbol;
  } else {
    characters_[code_point] = symbol;
  }
}

Symbol SymbolTable::of_character(uint32_t code_point) const {
  if (code_point < 128) return bytes_[code_point];
  const auto found = characters_.find(code_point);
  return found == characters_.end() ? kUnknownSymbol : found->second;
}

size_t SymbolTable::append(std::string_view text, size_t from, size_t count,
                           std::vector<SizedSymbol>& symbols) const {
  if (is_byte_level_) {
    const size_t end = std::min(text.size(), from + count);
    for (; from < end; ++from) symbols.push_back({bytes_[static_cast<uint8_t>(text[from])], 1});
    return end;
  }
  for (; count > 0 && from < text.size(); --count) {
    const auto character = utf8::decode(text.substr(from));
    symbols.push_back({of_character(character.code_point), character.length});
    from += character.length;
  }
  return from;
}

void BpeModel::encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const {
  if (d_.whole_words_first) {
    if (const auto id = d_.vocabulary->find(word)) return sink.add(*id, word.size());
  }
  auto& symbols = buffers.symbols;
  symbols.clear();
  if (d_.symbols.append(word, 0, kWindow, symbols) < word.size())
    return encode_in_windows(word, buffers, sink);
  const size_t count = merge_symbols(d_.merges, symbols, buffers.merge);
  emit({symbols.data(), count}, word, sink);
}

// If a text's tokens have a boundary at p, no merge crossed p, so the tokens before p are those of
// the text before p, and likewise after it. And whether a merge crosses p depends on the two tokens
// beside p only, for those hold all the symbols that ever stood next to p. So: when E(ab) = T and
// T has a boundary at q, and the encoding of what follows q (further than ab reached) begins with
// the token that T has after q, then the tokens of T before q followed by the new ones are the
// encoding of the longer text. Windows overlap by some tokens to make that likely; when it fails,
// the next try starts further back, in the worst case at the beginning.
void BpeModel::encode_in_windows(std::string_view word, ModelBuffers& buffers,
                                 TokenSink& sink) const {
  auto& symbols = buffers.symbols;
  auto& tokens = buffers.tokens;  // of word[0, reached)
  tokens.clear();
  size_t reached = 0;
  size_t overlap = 0;
  while (reached < word.size()) {
    size_t from = reached;
    const size_t kept = tokens.size() - std::min(overlap, tokens.size());
    for (size_t i = kept; i < tokens.size(); ++i) from -= tokens[i].bytes;
    symbols.clear();
    const size_t end = d_.symbols.append(word, from, kWindow + (reached - from), symbols);
    const size_t count = merge_symbols(d_.merges, symbols, buffers.merge);
    if (kept > 0 && symbols[0] != tokens[kept]) {
      overlap = 2 * overlap + kFirstOverlap;
      continue;
    }
    tokens.resize(kept);
    tokens.insert(tokens.end(), symbols.begin(), symbols.begin() + static_cast<ptrdiff_t>(count));
    reached = end;
    overlap = kFirstOverlap;
  }
  emit(tokens, word, sink);
}

void BpeModel::encode_slowly(std::string_view word, TokenSink& sink) const {
  if (d_.whole_words_first) {
    if (const auto id = d_.vocabulary->find(word)) return sink.add(*id, word.size());
  }
  std::vector<SizedSymbol> symbols;
  d_.symbols.append(word, 0, word.size(), symbols);
  merge_symbols_slowly(d_.merges, symbols);
  emit(symbols, word, sink);
}

void BpeModel::emit(std::span<const SizedSymbol> symbols, std::string_view word,
                    TokenSink& sink) const {
  size_t position = 0;
  for (size_t i = 0; i < symbols.size();) {
    if (is_token(symbols[i].symbol)) {
      sink.add(symbols[i].symbol, symbols[i].bytes);
      position += symbols[i++].bytes;
      continue;
    }
    size_t end = i + 1;
    while (end < symbols.size() && !is_token(symbols[end].symbol)) ++end;
    position += emit_unknown(symbols.subspan(i, end - i), word.substr(position), sink);
    i = end;
  }
}

size_t BpeModel::emit_unknown(std::span<const SizedSymbol> run, std::string_view text,
                              TokenSink& sink) const {
  const auto& policy = d_.unknown;
  size_t bytes = 0;
  size_t unknown_bytes = 0;  // since the last token
  const auto flush = [&] {
    if (unknown_bytes > 0 && policy.unk >= 0) sink.add(policy.unk, unknown_bytes);
    unknown_bytes = 0;
  };
  for (const auto& symbol : run) {
    const auto piece = text.substr(bytes, symbol.bytes);
    bytes += symbol.bytes;
    const bool has_bytes = !policy.byte_tokens.empty() && std::ranges::all_of(piece, [&](char c) {
      return policy.byte_tokens[static_cast<uint8_t>(c)] >= 0;
    });
    if (has_bytes || !policy.fuse) flush();
    if (has_bytes) {
      for (const char c : piece) sink.add(policy.byte_tokens[static_cast<uint8_t>(c)], 1);
    } else {
      unknown_bytes += piece.size();
    }
  }
  flush();
  return bytes;
}

}  // namespace trilobite
