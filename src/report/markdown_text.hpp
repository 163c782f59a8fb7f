#pragma once
// Names in Markdown: nothing in them may become markup or break a table.

#include <string>
#include <string_view>
#include <vector>

namespace trilobite {

/// One line of text that shows as it is: markup characters escaped, `<` and `&` as entities.
std::string markdown_text(std::string_view text);
/// "| a | b |" and a line break; cells must be markdown_text already.
std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace trilobite
