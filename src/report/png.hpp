#pragma once
// Pictures for places that show no SVG. A library of its own (trilobite_png): only the program
// needs librsvg, not those who link the lab.

#include <string>

#include "base/error.hpp"

namespace trilobite {

/// The SVG drawn at `scale` pixels per unit. Fails when it is no SVG or too large for a picture.
Result<std::string> svg_to_png(const std::string& svg, double scale = 2);

}  // namespace trilobite
