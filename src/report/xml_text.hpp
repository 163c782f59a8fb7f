#pragma once
// Text inside XML: SVG charts, JUnit files.

#include <string>
#include <string_view>

namespace trilobite {

/// One line of valid UTF-8 without control characters, markup characters as entities.
std::string xml_text(std::string_view text);

}  // namespace trilobite
