#include "tokenizer/vocabulary.hpp"

#include <bit>
#include <charconv>

#include "tokenizer/hash_bytes.hpp"

namespace trilobite {

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  tokens_.reserve(tokens);
  bytes_.reserve(bytes);
}

TokenId Vocabulary::add(std::string_view piece, TokenKind kind, float score) {
  tokens_.push_back({static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(piece.size()),
                     score, kind});
  bytes_ += piece;
  return static_cast<TokenId>(tokens_.size() - 1);
}

void Vocabulary::set(TokenId id, std::string_view piece, TokenKind kind, float score) {
  const auto index = static_cast<size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  tokens_[index] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(piece.size()),
                    score, kind};
  bytes_ += piece;
}

void Vocabulary::build_index() {
  slots_.assign(std::bit_ceil(2 * tokens_.size() + 1), Slot());
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!is_indexed(kind(id))) continue;
    const uint64_t hash = hash_bytes(piece(id));
    const auto tag = static_cast<uint32_t>(hash >> 32);
    size_t slot = hash & mask;
    while (slots_[slot].id >= 0 &&
           (slots_[slot].tag != tag || piece(slots_[slot].id) != piece(id))) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = {tag, id};
  }
}

std::optional<TokenId> Vocabulary::find(std::string_view wanted) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_bytes(wanted);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t slot = hash & mask; slots_[slot].id >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].tag == tag && piece(slots_[slot].id) == wanted) return slots_[slot].id;
  }
  return std::nullopt;
}

std::optional<TokenId> Vocabulary::find_any(std::string_view wanted) const {
  if (const auto found = find(wanted)) return found;
  for (size_t i = tokens_.size(); i-- > 0;) {
    const auto id = static_cast<TokenId>(i);
    if (tokens_[i].kind != TokenKind::missing && piece(id) == wanted) return id;
  }
  return std::nullopt;
}

std::vector<TokenId> Vocabulary::byte_tokens() const {
  std::vector<TokenId> ids(256, -1);
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (const auto byte = byte_of_piece(piece(id))) ids[*byte] = id;
  }
  return ids;
}

std::optional<uint8_t> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  uint8_t byte = 0;
  const char* end = piece.data() + 5;
  const auto parsed = std::from_chars(piece.data() + 3, end, byte, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return byte;
}

}  // namespace trilobite
