#pragma once
// The version of Trilobite, from the one place that has it (CMake's project()).

#include <string_view>

namespace trilobite {

/// "major.minor.patch"
std::string_view version();

}  // namespace trilobite
