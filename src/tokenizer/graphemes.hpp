#pragma once
// User-perceived characters: extended grapheme clusters of Unicode (UAX 29).

#include <string_view>

namespace trilobite {

/// The length in bytes of the first cluster of a text that is not empty.
size_t first_grapheme(std::string_view text);

}  // namespace trilobite
