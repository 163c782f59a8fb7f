#pragma once
// Whether more of a metric is better, by its name.

#include <optional>
#include <string_view>

namespace trilobite::verdict {

/// Nothing when the name does not tell.
std::optional<bool> more_is_better(std::string_view metric);

}  // namespace trilobite::verdict
