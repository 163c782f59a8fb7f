// Many texts at once: over threads, cut to length, filled to a rectangle.

#include <algorithm>
#include <atomic>

#include "base/thread_pool.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {
namespace {

/// Drops tokens of the text, never those that were added around it, unless these alone are too
/// many.
void truncate(std::vector<TokenId>& row, size_t around_begin, size_t around_end,
              const BatchOptions& options) {
  if (options.max_tokens == 0 || row.size() <= options.max_tokens) return;
  const size_t surplus = row.size() - options.max_tokens;
  const size_t text_tokens = row.size() - around_begin - around_end;
  const size_t dropped = std::min(surplus, text_tokens);
  const size_t first = options.truncate_left ? around_begin : around_begin + text_tokens - dropped;
  const auto begin = row.begin() + static_cast<ptrdiff_t>(first);
  row.erase(begin, begin + static_cast<ptrdiff_t>(dropped));
  row.resize(std::min(row.size(), options.max_tokens));
}

void pad(std::vector<TokenId>& row, size_t length, TokenId with, bool left) {
  if (row.size() >= length) return;
  row.insert(left ? row.begin() : row.end(), length - row.size(), with);
}

}  // namespace

Batch Tokenizer::encode_batch(std::span<const std::string_view> texts,
                              const BatchOptions& options) const {
  Batch batch;
  batch.ids.resize(texts.size());
  const bool adds = options.encode.add_special;
  const size_t around_begin = adds ? parts_->prefix.size() : 0;
  const size_t around_end = adds ? parts_->suffix.size() : 0;
  std::atomic<size_t> next = 0;
  // Texts differ in length, so each thread takes the next one when it is done.
  const auto work = [&](unsigned) {
    for (size_t i; (i = next.fetch_add(1)) < texts.size();) {
      encode_to(batch.ids[i], texts[i], options.encode);
      truncate(batch.ids[i], around_begin, around_end, options);
    }
  };
  const size_t threads = std::clamp<size_t>(options.threads, 1, std::max<size_t>(1, texts.size()));
  if (threads == 1) {
    work(0);
  } else {
    ThreadPool(static_cast<unsigned>(threads)).run(work);
  }
  size_t longest = options.pad_to;
  for (const auto& row : batch.ids) {
    batch.lengths.push_back(row.size());
    longest = std::max(longest, row.size());
  }
  const TokenId padding = parts_->special.pad.value_or(parts_->special.eos.value_or(0));
  if (options.pad) {
    for (auto& row : batch.ids) pad(row, longest, padding, options.pad_left);
  }
  return batch;
}

}  // namespace trilobite
