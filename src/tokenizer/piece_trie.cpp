#include "tokenizer/piece_trie.hpp"

#include <algorithm>

namespace trilobite {

/// Places the children of one node after the other. Siblings lie in one block of 256, so a step
/// from any node stays within the array.
class PieceTrieBuilder {
 public:
  PieceTrieBuilder(PieceTrie& trie, std::vector<PieceTrie::Entry> entries)
      : units_(trie.units_), entries_(std::move(entries)) {
    std::ranges::stable_sort(entries_, {}, &PieceTrie::Entry::first);
    units_.resize(kBlock);
    units_[0].parent = UINT32_MAX - 1;  // taken, and nobody's child
    work_.push_back({0, 0, entries_.size(), 0});
    while (!work_.empty()) {
      const auto task = work_.back();
      work_.pop_back();
      place(task);
    }
  }

 private:
  static constexpr size_t kBlock = 256;
  static constexpr size_t kMostTries = 512;

  /// A node and the entries [begin, end) that share its `depth` bytes.
  struct Task {
    uint32_t node;
    size_t begin;
    size_t end;
    size_t depth;
  };
  struct Child {
    uint8_t byte;
    size_t begin;
    size_t end;
  };

  void place(Task task) {
    while (task.begin < task.end && entries_[task.begin].first.size() == task.depth) {
      if (task.depth > 0) units_[task.node].value = entries_[task.begin].second;
      ++task.begin;
    }
    if (task.begin == task.end) return;
    find_children(task);
    const uint32_t base = find_base();
    units_[task.node].base = base;
    for (const auto& child : children_) units_[base ^ child.byte].parent = task.node;
    for (const auto& child : children_)
      work_.push_back({base ^ child.byte, child.begin, child.end, task.depth + 1});
  }

  void find_children(const Task& task) {
    children_.clear();
    for (size_t i = task.begin; i < task.end; ++i) {
      const auto byte = static_cast<uint8_t>(entries_[i].first[task.depth]);
      if (children_.empty() || children_.back().byte != byte) children_.push_back({byte, i, i});
      children_.back().end = i + 1;
    }
  }

  /// A base at which all children's places are free; a new block when none is found soon.
  uint32_t find_base() {
    while (first_free_ < units_.size() && units_[first_free_].parent != UINT32_MAX) ++first_free_;
    size_t tries = 0;
    for (size_t i = first_free_; i < units_.size() && tries < kMostTries; ++i) {
      if (units_[i].parent != UINT32_MAX) continue;
      ++tries;
      const auto base = static_cast<uint32_t>(i ^ children_[0].byte);
      if (fits(base)) return base;
    }
    const auto base = static_cast<uint32_t>(units_.size());
    units_.resize(units_.size() + kBlock);
    if (tries == kMostTries) first_free_ += kMostTries / 8;  // too crowded there; leave some gaps
    return base;
  }
  bool fits(uint32_t base) const {
    return std::ranges::all_of(children_, [&](const Child& child) {
      const size_t place = base ^ child.byte;
      return place < units_.size() && units_[place].parent == UINT32_MAX;
    });
  }

  std::vector<PieceTrie::Unit>& units_;
  std::vector<PieceTrie::Entry> entries_;
  std::vector<Task> work_;
  std::vector<Child> children_;
  size_t first_free_ = 1;
};

PieceTrie::PieceTrie(std::vector<Entry> entries) { PieceTrieBuilder(*this, std::move(entries)); }

}  // namespace trilobite
