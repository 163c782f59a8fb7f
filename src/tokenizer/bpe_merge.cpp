#include "tokenizer/bpe_merge.hpp"

#include <algorithm>
#include <functional>

namespace trilobite {
namespace {

/// Up to this many symbols, finding the minimum by scanning is faster than keeping a heap.
constexpr size_t kScanLimit = 48;

size_t merge_by_scanning(const MergeTable& table, std::span<SizedSymbol> symbols,
                         std::span<Merge> merges) {
  size_t count = symbols.size();
  for (;;) {
    size_t best = 0;
    uint32_t best_rank = kNoRank;
    for (size_t i = 0; i + 1 < count; ++i) {
      if (merges[i].rank < best_rank) best_rank = merges[best = i].rank;
    }
    if (best_rank == kNoRank) return count;
    symbols[best] = {merges[best].result, symbols[best].bytes + symbols[best + 1].bytes};
    --count;
    for (size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      merges[i] = merges[i + 1];
    }
    if (best > 0) merges[best - 1] = table.find(symbols[best - 1].symbol, symbols[best].symbol);
    if (best + 1 < count) merges[best] = table.find(symbols[best].symbol, symbols[best + 1].symbol);
  }
}

/// A doubly linked list over the symbols and a heap of its pairs. An entry is stale when its rank
/// is not that of the pair any more.
class HeapMerger {
 public:
  HeapMerger(const MergeTable& table, std::span<SizedSymbol> symbols, MergeBuffers& buffers)
      : table_(table), symbols_(symbols), b_(buffers), end_(static_cast<uint32_t>(symbols.size())) {
    b_.next.resize(symbols.size());
    b_.previous.resize(symbols.size());
    b_.heap.clear();
    for (uint32_t i = 0; i < end_; ++i) {
      b_.next[i] = i + 1;
      b_.previous[i] = i - 1;  // wraps for the first, which nobody follows
      if (i + 1 < end_ && b_.merges[i].rank != kNoRank) b_.heap.push_back(entry(i));
    }
    std::ranges::make_heap(b_.heap, std::greater());
  }

  size_t run() {
    while (!b_.heap.empty()) {
      std::ranges::pop_heap(b_.heap, std::greater());
      const uint64_t top = b_.heap.back();
      b_.heap.pop_back();
      const auto position = static_cast<uint32_t>(top);
      if (b_.merges[position].rank == top >> 32) merge_at(position);
    }
    return compact();
  }

 private:
  uint64_t entry(uint32_t position) const {
    return uint64_t{b_.merges[position].rank} << 32 | position;
  }
  void merge_at(uint32_t left) {
    const uint32_t right = b_.next[left];
    symbols_[left] = {b_.merges[left].result, symbols_[left].bytes + symbols_[right].bytes};
    b_.merges[right].rank = kNoRank;
    b_.next[left] = b_.next[right];
    if (b_.next[left] < end_) b_.previous[b_.next[left]] = left;
    look_up(left);
    if (left > 0) look_up(b_.previous[left]);
  }
  void look_up(uint32_t left) {
    const uint32_t right = b_.next[left];
    b_.merges[left] =
        right < end_ ? table_.find(symbols_[left].symbol, symbols_[right].symbol) : Merge();
    if (b_.merges[left].rank == kNoRank) return;
    b_.heap.push_back(entry(left));
    std::ranges::push_heap(b_.heap, std::greater());
  }
  size_t compact() {
    size_t count = 0;
    for (uint32_t i = 0; i < end_; i = b_.next[i]) symbols_[count++] = symbols_[i];
    return count;
  }

  const MergeTable& table_;
  std::span<SizedSymbol> symbols_;
  MergeBuffers& b_;
  uint32_t end_;
};

}  // namespace

size_t merge_symbols(const MergeTable& table, std::span<SizedSymbol> symbols,
                     MergeBuffers& buffers) {
  if (symbols.size() < 2) return symbols.size();
  if (buffers.merges.size() < symbols.size()) buffers.merges.resize(symbols.size());
  for (size_t i = 0; i + 1 < symbols.size(); ++i)
    buffers.merges[i] = table.find(symbols[i].symbol, symbols[i + 1].symbol);
  buffers.merges[symbols.size() - 1] = Merge();
  if (symbols.size() <= kScanLimit) return merge_by_scanning(table, symbols, buffers.merges);
  return HeapMerger(table, symbols, buffers).run();
}

void merge_symbols_slowly(const MergeTable& table, std::vector<SizedSymbol>& symbols) {
  for (;;) {
    size_t best = symbols.size();
    Merge best_merge;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto merge = table.find(symbols[i].symbol, symbols[i + 1].symbol);
      if (merge.rank < best_merge.rank) {
        best = i;
        best_merge = merge;
      }
    }
    if (best == symbols.size()) return;
    symbols[best] = {best_merge.result, symbols[best].bytes + symbols[best + 1].bytes};
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

}  // namespace trilobite
