#pragma once
// MergeTable: which two neighbouring symbols become which, and how soon. A flat hash table, because
// LLaMA-3 has 280,000 rules and a BPE encoder does little else than look them up.

#include <bit>
#include <cstdint>
#include <vector>

#include "tokenizer/hash_bytes.hpp"

namespace trilobite {

using Symbol = int32_t;
inline constexpr Symbol kUnknownSymbol = -1;
inline constexpr uint32_t kNoRank = UINT32_MAX;

struct Merge {
  uint32_t rank = kNoRank;  // lower merges sooner
  Symbol result = kUnknownSymbol;
};

class MergeTable {
 public:
  explicit MergeTable(size_t expected = 0) { grow_to(expected); }

  /// A later rule for the same pair replaces the earlier one.
  void insert(Symbol left, Symbol right, Merge merge) {
    if (5 * (count_ + 1) > 3 * slots_.size()) grow_to(2 * count_ + 2);
    auto& slot = slots_[find_slot(left, right)];
    count_ += slot.merge.rank == kNoRank ? 1 : 0;
    slot = {left, right, merge};
  }
  /// `rank` is kNoRank when the pair does not merge.
  Merge find(Symbol left, Symbol right) const { return slots_[find_slot(left, right)].merge; }
  /// Fetches what an insertion or search will need into the cache.
  void prefetch(Symbol left, Symbol right) const { __builtin_prefetch(&slots_[home(left, right)]); }
  size_t size() const { return count_; }

 private:
  struct Slot {
    Symbol left = kUnknownSymbol;
    Symbol right = kUnknownSymbol;
    Merge merge;
  };
  size_t home(Symbol left, Symbol right) const {
    const uint64_t key =
        static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
    return (key * kHashA ^ key >> 29) * kHashB >> shift_;
  }
  /// The slot of the pair, or the empty one where it would go.
  size_t find_slot(Symbol left, Symbol right) const {
    size_t slot = home(left, right);
    const size_t mask = slots_.size() - 1;
    while (slots_[slot].merge.rank != kNoRank &&
           (slots_[slot].left != left || slots_[slot].right != right)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow_to(size_t expected) {
    const size_t size = std::bit_ceil(5 * expected / 3 + 16);  // at most 60 % full
    std::vector<Slot> old(size);
    old.swap(slots_);
    shift_ = 64 - std::countr_zero(size);
    for (const auto& slot : old) {
      if (slot.merge.rank != kNoRank) slots_[find_slot(slot.left, slot.right)] = slot;
    }
  }
  std::vector<Slot> slots_;
  int shift_ = 0;
  size_t count_ = 0;
};

}  // namespace trilobite
