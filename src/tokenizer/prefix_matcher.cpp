#include "tokenizer/prefix_matcher.hpp"

#include <algorithm>
#include <functional>

namespace trilobite {

void PrefixMatcher::add(std::string_view text, int32_t value) {
  if (text.empty()) return;
  values_.insert_or_assign(std::string(text), value);
  const auto first = static_cast<uint8_t>(text[0]);
  begins_[first] = true;
  auto& lengths = lengths_[first];
  const auto length = static_cast<uint32_t>(text.size());
  const auto place = std::ranges::lower_bound(lengths, length, std::greater());
  if (place == lengths.end() || *place != length) lengths.insert(place, length);
}

PrefixMatcher::Match PrefixMatcher::longest(std::string_view text) const {
  if (text.empty()) return {};
  for (const uint32_t length : lengths_[static_cast<uint8_t>(text[0])]) {
    if (length > text.size()) continue;
    const auto found = values_.find(text.substr(0, length));
    if (found != values_.end()) return {length, found->second};
  }
  return {};
}

PrefixMatcher::Found PrefixMatcher::find(std::string_view text, size_t from) const {
  if (is_empty()) return {};
  for (; from < text.size(); ++from) {
    if (!begins_[static_cast<uint8_t>(text[from])]) continue;
    const auto match = longest(text.substr(from));
    if (match.length > 0) return {from, match};
  }
  return {};
}

}  // namespace trilobite
