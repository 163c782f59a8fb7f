#pragma once
// Files of the tree that are part of the library: cmake/EmbedText.cmake writes the definitions.

#include <string_view>

namespace trilobite::assets {

std::string_view chart_css();
std::string_view report_css();
std::string_view report_js();
std::string_view method_html();

}  // namespace trilobite::assets
