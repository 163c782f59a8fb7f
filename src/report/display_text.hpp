#pragma once
// Text on its way to a terminal or a file that must be UTF-8: names come from anywhere (a command
// line, a file of somebody else) and may hold invalid bytes, control characters or writing whose
// letters are two columns wide or none. Knows nothing about benchmarks.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trilobite {

/// The text with every invalid byte replaced by U+FFFD, so that it is UTF-8.
std::string valid_utf8(std::string_view text);

/// One line that cannot do anything to a terminal: valid UTF-8, control characters (line breaks and
/// escape sequences too) as blanks, characters that change the writing direction removed.
std::string printable(std::string_view text);

/// Columns that `text` takes in a terminal: 0 for combining marks, 2 for East Asian wide
/// characters and emoji, else 1. `text` must be valid UTF-8.
size_t display_width(std::string_view text);

/// Cuts out the middle, where the letters matter least ("kernels/mat…/64x64"), so that at most
/// `width` columns remain. Text that fits is returned as it is.
std::string shortened_in_the_middle(std::string_view text, size_t width);
/// Cuts off the end, with "…" in its place.
std::string shortened_at_the_end(std::string_view text, size_t width);

/// Breaks at blanks into lines of at most `width` columns (0: one line); all but the first are
/// indented by `indent` blanks, which count. A word that is longer than a line is shortened.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent);

}  // namespace trilobite
