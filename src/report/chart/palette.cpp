#include "report/chart/palette.hpp"

#include <fmt/format.h>

#include <array>

namespace trilobite::chart {
namespace {

struct Color {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

// Text colours reach 4.5:1 against page and panel, marks 3:1 (WCAG 2.1); the browser test asks axe.
constexpr std::array kColors{
    Color{"page", "#f6f7f9", "#0f1318"},     Color{"panel", "#ffffff", "#171c23"},
    Color{"ink", "#16202c", "#e6eaf0"},      Color{"soft", "#55606e", "#a3adba"},
    Color{"line", "#dde2e8", "#2b333d"},     Color{"grid", "#e6eaef", "#262e38"},
    Color{"accent", "#1d4ed8", "#8ab4ff"},   Color{"tint", "#eaf0fd", "#1c2a44"},
    Color{"good", "#15703a", "#5fd38d"},     Color{"bad", "#b42318", "#ff8a80"},
    Color{"doubt", "#8a5a00", "#f0b541"},    Color{"good-tint", "#e5f5ea", "#15301f"},
    Color{"bad-tint", "#fdeceb", "#3a1b1a"}, Color{"doubt-tint", "#fdf3dc", "#33280f"},
    Color{"s0", "#2563eb", "#6ea8fe"},       Color{"s1", "#c2570c", "#fb9a4b"},
    Color{"s2", "#0f766e", "#3fd0bd"},       Color{"s3", "#be185d", "#f77fb5"},
    Color{"s4", "#6d28d9", "#b794f6"},       Color{"s5", "#4d7c0f", "#a3d936"},
    Color{"s6", "#92400e", "#e0a96d"},       Color{"s7", "#475569", "#a8b6c8"}};

}  // namespace

std::string custom_properties(bool dark) {
  std::string text;
  for (const auto& color : kColors)
    text += fmt::format("--{}:{};", color.name, dark ? color.dark : color.light);
  return text;
}

std::string with_light_colors(std::string_view style) {
  std::string text(style);
  for (const auto& color : kColors) {
    const auto property = fmt::format("var(--{})", color.name);
    for (auto at = text.find(property); at != std::string::npos; at = text.find(property, at))
      text.replace(at, property.size(), color.light);
  }
  return text;
}

}  // namespace trilobite::chart
