#pragma once
// PieceTrie: which pieces a text begins with, byte by byte. A double array: the child of a node for
// a byte lies at a place computed from both, and says which node it belongs to.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace trilobite {

class PieceTrie {
  struct Unit {
    uint32_t base = 0;
    uint32_t parent = UINT32_MAX;  // UINT32_MAX: free
    int32_t value = -1;
  };

 public:
  static constexpr int32_t kNoValue = -1;
  using Entry = std::pair<std::string_view, int32_t>;  // piece, value (not negative)

  PieceTrie() : PieceTrie(std::vector<Entry>()) {}
  /// Of equal pieces the last wins; empty ones are ignored.
  explicit PieceTrie(std::vector<Entry> entries);

  /// A place in the trie; starts at the root.
  class Cursor {
   public:
    explicit Cursor(const PieceTrie& trie) : units_(trie.units_.data()) {}
    /// Follows `byte`; false when no piece goes on like this.
    bool step(char byte) {
      const uint32_t child = units_[node_].base ^ static_cast<uint8_t>(byte);
      if (units_[child].parent != node_) return false;
      node_ = child;
      return true;
    }
    /// Of the piece that ends here; kNoValue when none does.
    int32_t value() const { return units_[node_].value; }

   private:
    const Unit* units_;
    uint32_t node_ = 0;
  };

 private:
  friend class PieceTrieBuilder;
  std::vector<Unit> units_;
};

}  // namespace trilobite
