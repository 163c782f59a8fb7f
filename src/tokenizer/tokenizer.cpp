// The public face: workspaces handed out and taken back, decoding, questions about the vocabulary.

#include "trilobite/tokenizer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/thread_pool.hpp"
#include "tokenizer/encoder.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {

/// Workspaces that nobody uses at the moment; as many as threads ever encoded at once.
struct Tokenizer::Workspaces {
  class Lease {
   public:
    explicit Lease(Workspaces& owner) : owner_(owner), workspace_(owner.take()) {}
    ~Lease() { owner_.give_back(std::move(workspace_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() { return *workspace_; }

   private:
    Workspaces& owner_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  std::unique_ptr<Workspace> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Workspace>();
    auto workspace = std::move(free_.back());
    free_.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<Workspace> workspace) {
    workspace->shrink();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts)
    : parts_(std::move(parts)), workspaces_(std::make_unique<Workspaces>()) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<TokenId> ids;
  encode_to(ids, text, options);
  return ids;
}

void Tokenizer::encode_to(std::vector<TokenId>& ids, std::string_view text,
                          EncodeOptions options) const {
  Workspaces::Lease workspace(*workspaces_);
  trilobite::encode(*parts_, text, options, *workspace, {ids});
}

Encoding Tokenizer::encode_with_offsets(std::string_view text, EncodeOptions options) const {
  Encoding encoding;
  Workspaces::Lease workspace(*workspaces_);
  trilobite::encode(*parts_, text, options, *workspace, {encoding.ids, &encoding.offsets});
  return encoding;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  return decode_after({}, ids, options);
}

std::string Tokenizer::decode_after(std::span<const TokenId> before, std::span<const TokenId> ids,
                                    DecodeOptions options) const {
  StreamDecoder stream(*this, options);
  stream.continue_after(before);
  std::string text;
  for (const TokenId id : ids) text += stream.push(id);
  return text += stream.finish();
}

size_t Tokenizer::vocabulary_size() const { return parts_->vocabulary.size(); }

std::string_view Tokenizer::piece(TokenId id) const {
  return parts_->vocabulary.contains(id) ? parts_->vocabulary.piece(id) : std::string_view();
}

std::optional<TokenId> Tokenizer::find(std::string_view piece) const {
  return parts_->vocabulary.find_any(piece);
}

const SpecialTokens& Tokenizer::special() const { return parts_->special; }

bool Tokenizer::is_special(TokenId id) const {
  return parts_->vocabulary.contains(id) && parts_->vocabulary.kind(id) == TokenKind::control;
}

bool Tokenizer::is_end_of_generation(TokenId id) const {
  return std::ranges::find(parts_->end_of_generation, id) != parts_->end_of_generation.end();
}

std::span<const TokenId> Tokenizer::prefix() const { return parts_->prefix; }
std::span<const TokenId> Tokenizer::suffix() const { return parts_->suffix; }
std::string_view Tokenizer::kind() const { return parts_->kind; }

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, DecodeOptions options)
    : tokenizer_(tokenizer), options_(options) {}

void StreamDecoder::continue_after(std::span<const TokenId> ids) {
  for (const TokenId id : ids) push(id);
}

std::string_view StreamDecoder::push(TokenId id) {
  ready_.clear();
  const auto& parts = *tokenizer_.parts_;
  if (!parts.vocabulary.contains(id)) return ready_;
  const bool is_special = tokenizer_.is_special(id);
  if (is_special && !options_.special_tokens) return ready_;
  const size_t before = pending_.size();
  const auto piece = parts.vocabulary.piece(id);
  if (parts.special.unk == id && !parts.decoder.unk_text.empty()) {
    pending_ += parts.decoder.unk_text;
  } else if (is_special && parts.decoder.joining == DecoderRules::Joining::marked_words) {
    pending_ += piece;
  } else {
    append_decoded(parts.decoder, piece, is_first_, pending_);
  }
  if (pending_.size() > before || !piece.empty()) is_first_ = false;
  const size_t held = utf8::incomplete_tail(pending_);
  append_valid_utf8(std::string_view(pending_).substr(0, pending_.size() - held),
                    parts.decoder.byte_tokens, ready_);
  pending_.erase(0, pending_.size() - held);
  return ready_;
}

std::string_view StreamDecoder::finish() {
  ready_.clear();
  append_valid_utf8(pending_, tokenizer_.parts_->decoder.byte_tokens, ready_);
  pending_.clear();
  is_first_ = true;
  return ready_;
}

}  // namespace trilobite
