#pragma once
// MergeTable: which two neighbouring symbols become which, and how soon. A flat hash table, because
// LLaMA-3 has 280,000 rules and a BPE encoder does little else than look them up.

#include <bit>
#include <cstdint>
#include <vector>

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
    if (2 * (count_ + 1) > slots_.size()) grow_to(2 * count_ + 2);
    auto& slot = slots_[find_slot(left, right)];
    count_ += slot.merge.rank == kNoRank ? 1 : 0;
    slot = {left, right, merge};
  }
  /// `rank` is kNoRank when the pair does not merge.
  Merge find(Symbol left, Symbol right) const { return slots_[find_slot(left, right)].merge; }
  size_t size() const { return count_; }

 private:
  struct Slot {
    Symbol left = kUnknownSymbol;
    Symbol right = kUnknownSymbol;
    Merge merge;
  };
  /// The slot of the pair, or the empty one where it would go.
  size_t find_slot(Symbol left, Symbol right) const {
    const uint64_t key =
        static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
    size_t slot = (key * 0x9E3779B97F4A7C15 ^ key >> 29) * 0x6A09E667F3BCC909 >> shift_;
    const size_t mask = slots_.size() - 1;
    while (slots_[slot].merge.rank != kNoRank &&
           (slots_[slot].left != left || slots_[slot].right != right)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow_to(size_t expected) {
    const size_t size = std::bit_ceil(2 * expected + 16);
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
