#include "tokenizer/unigram_model.hpp"

#include <algorithm>

#include "tokenizer/utf8.hpp"

namespace trilobite {

/// Viterbi's algorithm from left to right. `Score` is the precision of the sums.
template <typename Score>
class UnigramModel::Search {
 public:
  Search(const UnigramModel& model, std::string_view text, ModelBuffers& buffers, TokenSink& sink)
      : model_(model), text_(text), path_(buffers.path), tokens_(buffers.tokens), sink_(sink) {}

  void run() {
    restart(0, 0);
    for (size_t begin = 0; begin < text_.size();) {
      // No piece reaches beyond `begin`: what lies before it is decided.
      if (furthest_ == begin && begin - base_ >= kSettleBytes) settle(begin);
      const size_t character =
          std::min(utf8::length_by_first_byte(text_[begin]), text_.size() - begin);
      extend(begin, character);
      begin += character;
    }
    settle(text_.size());
    flush_unknown();
  }

 private:
  /// Enough to make the bookkeeping of a stop cheap, little enough to stay in the nearest cache.
  static constexpr size_t kSettleBytes = 512;
  static constexpr TokenId kUnknown = -2;

  void restart(size_t base, Score score) {
    base_ = furthest_ = base;
    path_.clear();
    path_.resize(1);
    path_[0].score = score;
  }

  /// Tries every piece that begins at `begin`, whose first character has `character` bytes.
  void extend(size_t begin, size_t character) {
    const auto so_far = static_cast<Score>(path_[begin - base_].score);
    bool has_character = false;
    PieceTrie::Cursor cursor(model_.trie_);
    for (size_t end = begin; end < text_.size() && cursor.step(text_[end]);) {
      ++end;
      const TokenId id = cursor.value();
      if (id < 0) continue;
      offer(begin, end, id, model_.scores_[static_cast<size_t>(id)] + static_cast<double>(so_far));
      has_character = has_character || end - begin == character;
    }
    if (has_character) return;
    const Score unknown = static_cast<Score>(model_.unk_score_) + so_far;
    offer(begin, begin + character, kUnknown, static_cast<double>(unknown));
  }

  void offer(size_t begin, size_t end, TokenId id, double score) {
    if (end > furthest_) {
      furthest_ = end;
      path_.resize(end - base_ + 1);
    }
    auto& node = path_[end - base_];
    if (node.length != 0 && score <= node.score) return;
    node = {static_cast<double>(static_cast<Score>(score)), id, static_cast<uint32_t>(end - begin)};
  }

  /// Gives out the best path to `end` and goes on from there.
  void settle(size_t end) {
    tokens_.clear();
    for (size_t at = end; at > base_; at -= path_[at - base_].length)
      tokens_.push_back({path_[at - base_].id, path_[at - base_].length});
    size_t position = base_;
    for (size_t i = tokens_.size(); i-- > 0;) {
      emit(tokens_[i].symbol, position, tokens_[i].bytes);
      position += tokens_[i].bytes;
    }
    restart(end, static_cast<Score>(path_[end - base_].score));
  }

  void emit(TokenId id, size_t begin, size_t bytes) {
    if (id == kUnknown) {
      if (unknown_bytes_ == 0) unknown_begin_ = begin;
      unknown_bytes_ += bytes;
      return;
    }
    flush_unknown();
    sink_.add(id, bytes);
  }
  /// A run of unknown characters: bytes if the vocabulary has them all, else one token.
  void flush_unknown() {
    if (unknown_bytes_ == 0) return;
    const auto run = text_.substr(unknown_begin_, unknown_bytes_);
    const auto& policy = model_.unknown_;
    const bool has_bytes = !policy.byte_tokens.empty() && std::ranges::all_of(run, [&](char c) {
      return policy.byte_tokens[static_cast<uint8_t>(c)] >= 0;
    });
    if (has_bytes) {
      for (const char c : run) sink_.add(policy.byte_tokens[static_cast<uint8_t>(c)], 1);
    } else if (policy.unk >= 0) {
      sink_.add(policy.unk, run.size());
    }
    unknown_bytes_ = 0;
  }

  const UnigramModel& model_;
  std::string_view text_;
  std::vector<PathNode>& path_;  // path_[i]: the best way to base_ + i
  std::vector<SizedSymbol>& tokens_;
  TokenSink& sink_;
  size_t base_ = 0;
  size_t furthest_ = 0;
  size_t unknown_begin_ = 0;
  size_t unknown_bytes_ = 0;
};

void UnigramModel::encode(std::string_view word, ModelBuffers& buffers, TokenSink& sink) const {
  if (single_precision_) return Search<float>(*this, word, buffers, sink).run();
  Search<double>(*this, word, buffers, sink).run();
}

}  // namespace trilobite
