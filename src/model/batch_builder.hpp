#pragma once
// Cuts what is fed to a model into batches of a limited number of tokens, without allocating.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "model/batch_attention.hpp"
#include "model/kv_cache.hpp"

namespace trilobite::model {

struct Feed;

class BatchBuilder {
 public:
  BatchBuilder() = default;
  BatchBuilder(size_t max_tokens, size_t max_runs);

  /// The feeds to be cut; they must stay until the last batch.
  void start(std::span<const Feed> feeds);
  /// Fills the next batch: runs continue where the cache's sequences end. False when all is done.
  bool next(const KvCache& cache);

  std::span<const int32_t> tokens() const { return tokens_; }
  std::span<const TokenRun> runs() const { return runs_; }
  /// The rows of this batch that are the last tokens of feeds, from `first_feed` on.
  struct Ended {
    std::span<const size_t> rows;
    size_t first_feed;
  };
  Ended ended() const { return {ended_, feed_ - ended_.size()}; }

  /// Texts of their own instead of feeds: each is a run from position 0 on.
  void clear();
  bool fits(size_t tokens) const;
  void add_text(std::span<const int32_t> text);

 private:
  void append(std::span<const int32_t> tokens, size_t sequence, size_t position);

  size_t max_tokens_ = 0;
  size_t max_runs_ = 0;
  std::span<const Feed> feeds_;
  size_t feed_ = 0;    // that comes next
  size_t offset_ = 0;  // tokens of it that have been taken
  std::vector<int32_t> tokens_;
  std::vector<TokenRun> runs_;
  std::vector<size_t> ended_;
};

/// Whether all ids are in the vocabulary; the error names the first that is not.
Result<void> check_ids(std::span<const int32_t> ids, size_t vocabulary);

}  // namespace trilobite::model
