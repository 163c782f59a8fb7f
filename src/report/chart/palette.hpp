#pragma once
// The colours of charts and pages, each once: as custom properties for a page, or put in place of
// them for a picture that stands alone.

#include <string>
#include <string_view>

namespace trilobite::chart {

inline constexpr size_t kSeriesColors = 8;

/// "--name:value;" of every colour, for light or dark pages.
std::string custom_properties(bool dark);
/// The style with every var(--name) replaced by its light colour: librsvg knows no properties.
std::string with_light_colors(std::string_view style);

}  // namespace trilobite::chart
