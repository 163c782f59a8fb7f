#include "tokenizer/vocabulary.hpp"

#include <bit>
#include <charconv>

namespace trilobite {

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  tokens_.reserve(tokens);
  bytes_.reserve(bytes);
}

TokenId Vocabulary::add(std::string_view piece, TokenKind kind, float score) {
  tokens_.push_back(
      {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(piece.size()), score, kind});
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
    const auto wanted = probe(piece(id));
    size_t slot = wanted.slot;
    while (slots_[slot].id >= 0 && !is_at(slots_[slot], wanted.piece, wanted.key))
      slot = (slot + 1) & mask;
    slots_[slot] = {wanted.key, static_cast<uint32_t>(wanted.piece.size()), id};
  }
}

Vocabulary::Probe Vocabulary::probe(std::string_view wanted) const {
  Probe probe{.piece = wanted};
  uint64_t hash = 0;
  if (wanted.size() <= 16) {
    probe.key = short_key(wanted.data(), wanted.size());
    hash = hash_key(probe.key, wanted.size()) * kHashB;
  } else {
    hash = hash_bytes(wanted);
    probe.key = {hash, 0};
  }
  probe.slot = (hash >> 20) & (slots_.size() - 1);
  __builtin_prefetch(&slots_[probe.slot]);
  return probe;
}

std::optional<TokenId> Vocabulary::find(const Probe& probe) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = probe.slot; slots_[slot].id >= 0; slot = (slot + 1) & mask) {
    if (is_at(slots_[slot], probe.piece, probe.key)) return slots_[slot].id;
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
