#include "model/batch_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/engine.hpp"

namespace trilobite::model {

BatchBuilder::BatchBuilder(size_t max_tokens, size_t max_runs)
    : max_tokens_(max_tokens), max_runs_(max_runs) {
  tokens_.reserve(max_tokens);
  runs_.reserve(max_runs);
  ended_.reserve(max_runs);
}

void BatchBuilder::start(std::span<const Feed> feeds) {
  feeds_ = feeds;
  feed_ = 0;
  offset_ = 0;
}

void BatchBuilder::clear() {
  tokens_.clear();
  runs_.clear();
  ended_.clear();
}

void BatchBuilder::append(std::span<const int32_t> tokens, size_t sequence, size_t position) {
  runs_.push_back({sequence, tokens_.size(), tokens.size(), position});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

bool BatchBuilder::next(const KvCache& cache) {
  clear();
  while (feed_ < feeds_.size() && tokens_.size() < max_tokens_) {
    const Feed& feed = feeds_[feed_];
    const size_t count = std::min(feed.tokens.size() - offset_, max_tokens_ - tokens_.size());
    append(feed.tokens.subspan(offset_, count), feed.sequence, cache.length(feed.sequence));
    offset_ += count;
    if (offset_ < feed.tokens.size()) break;
    ended_.push_back(tokens_.size() - 1);
    ++feed_;
    offset_ = 0;
  }
  return !tokens_.empty();
}

bool BatchBuilder::fits(size_t tokens) const {
  return tokens_.size() + tokens <= max_tokens_ && runs_.size() < max_runs_;
}

void BatchBuilder::add_text(std::span<const int32_t> text) { append(text, runs_.size(), 0); }

Result<void> check_ids(std::span<const int32_t> ids, size_t vocabulary) {
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary)
      return fail(fmt::format("there is no token {}; the vocabulary has {}", id, vocabulary));
  }
  return {};
}

}  // namespace trilobite::model
