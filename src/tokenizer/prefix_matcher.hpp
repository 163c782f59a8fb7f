#pragma once
// PrefixMatcher: which of a set of texts a text begins with. For user-defined pieces and special
// tokens, of which there are few compared with a vocabulary.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trilobite {

class PrefixMatcher {
 public:
  struct Match {
    size_t length = 0;  // 0: none
    int32_t value = -1;
  };

  /// Empty texts are ignored; of equal ones the last wins.
  void add(std::string_view text, int32_t value);
  bool is_empty() const { return values_.empty(); }
  /// The longest text that `text` begins with.
  Match longest(std::string_view text) const;
  /// The leftmost, then longest match in `text` from `from` on; `begin` is npos when there is none.
  struct Found {
    size_t begin = std::string_view::npos;
    Match match;
  };
  Found find(std::string_view text, size_t from) const;

 private:
  std::array<bool, 256> begins_{};                  // first bytes of the texts
  std::array<std::vector<uint32_t>, 256> lengths_;  // by first byte, longest first, distinct
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> values_;
};

}  // namespace trilobite
