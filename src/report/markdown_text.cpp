#include "report/markdown_text.hpp"

#include <fmt/format.h>

#include "report/display_text.hpp"

namespace trilobite {

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace trilobite
