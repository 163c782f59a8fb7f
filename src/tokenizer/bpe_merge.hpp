#pragma once
// The merging of byte-pair encoding: of all neighbouring symbols that may merge, the pair of lowest
// rank does (the leftmost among equals), until none is left.

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/merge_table.hpp"

namespace trilobite {

/// A symbol and how many bytes of the text it covers.
struct SizedSymbol {
  Symbol symbol;
  uint32_t bytes;
  bool operator==(const SizedSymbol&) const = default;
};

/// Buffers of a merge, kept so that the next one allocates nothing.
struct MergeBuffers {
  std::vector<Merge> merges;  // of symbol i and its right neighbour
  std::vector<uint32_t> next;
  std::vector<uint32_t> previous;
  std::vector<uint64_t> heap;  // rank << 32 | position
};

/// Merges in place and returns how many symbols are left, at the front of `symbols`.
size_t merge_symbols(const MergeTable& table, std::span<SizedSymbol> symbols,
                     MergeBuffers& buffers);

/// The same by looking at everything again after each merge: the reference in tests.
void merge_symbols_slowly(const MergeTable& table, std::vector<SizedSymbol>& symbols);

}  // namespace trilobite
