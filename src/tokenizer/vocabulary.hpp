#pragma once
// Vocabulary: the pieces of a tokenizer by id, and ids by piece. Ids are dense; a hole in the
// source is a token of kind `missing` that nothing encodes to and that decodes to nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hash_bytes.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// The numbers are those of GGUF and SentencePiece.
enum class TokenKind : uint8_t {
  missing = 0,
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

class Vocabulary {
 public:
  void reserve(size_t tokens, size_t bytes);
  /// The next id.
  TokenId add(std::string_view piece, TokenKind kind, float score = 0);
  /// At a given id; what lies between is missing until it is set. Replaces what was there.
  void set(TokenId id, std::string_view piece, TokenKind kind, float score = 0);
  void set_kind(TokenId id, TokenKind kind) { tokens_[static_cast<size_t>(id)].kind = kind; }

  size_t size() const { return tokens_.size(); }
  bool contains(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < tokens_.size(); }
  std::string_view piece(TokenId id) const {
    const auto& token = tokens_[static_cast<size_t>(id)];
    return {bytes_.data() + token.offset, token.length};
  }
  TokenKind kind(TokenId id) const { return tokens_[static_cast<size_t>(id)].kind; }
  float score(TokenId id) const { return tokens_[static_cast<size_t>(id)].score; }

  /// Makes `find` work; to be called once, when all tokens are in. Of equal pieces the last wins.
  void build_index();
  /// Among the pieces that text can become: normal, user-defined and unused ones.
  std::optional<TokenId> find(std::string_view piece) const { return find(probe(piece)); }
  /// The first half of `find`: starts the search and fetches what it needs into the cache, so that
  /// many searches overlap. The text must live on until the second half.
  struct Probe {
    std::string_view piece;
    ShortKey key;
    size_t slot;
  };
  Probe probe(std::string_view piece) const;
  std::optional<TokenId> find(const Probe& probe) const;
  /// Among all; slow.
  std::optional<TokenId> find_any(std::string_view piece) const;
  /// Ids of "<0x00>" to "<0xFF>"; -1 where there is none.
  std::vector<TokenId> byte_tokens() const;

 private:
  struct Token {
    uint32_t offset = 0;
    uint32_t length = 0;
    float score = 0;
    TokenKind kind = TokenKind::missing;
  };
  /// Pieces of up to 16 bytes are in the slot itself, of longer ones their hash.
  struct Slot {
    ShortKey key{};
    uint32_t length = 0;
    TokenId id = -1;
  };
  bool is_at(const Slot& slot, std::string_view wanted, const ShortKey& key) const {
    return slot.length == wanted.size() && slot.key == key &&
           (wanted.size() <= 16 || piece(slot.id) == wanted);
  }
  bool is_indexed(TokenKind kind) const {
    return kind == TokenKind::normal || kind == TokenKind::user_defined ||
           kind == TokenKind::unused;
  }
  std::string bytes_;
  std::vector<Token> tokens_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

/// 10 for "<0x0A>"; nothing for other pieces.
std::optional<uint8_t> byte_of_piece(std::string_view piece);

}  // namespace trilobite
