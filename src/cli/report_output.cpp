#include "cli/report_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "cli/formats.hpp"
#include "report/chart/render.hpp"
#include "report/figures/figures.hpp"
#include "report/html/page.hpp"
#include "report/markdown.hpp"
#include "report/png.hpp"

namespace trilobite::cli {
namespace {

struct Ending {
  std::string_view ending;
  std::string_view format;
};
constexpr std::array kEndings{Ending{".html", "html"},      Ending{".htm", "html"},
                              Ending{".md", "markdown"},    Ending{".csv", "csv"},
                              Ending{".json", "json"},      Ending{".xml", "junit"},
                              Ending{".prom", "prometheus"}};

std::string format_for(const std::string& output) {
  for (const auto& [ending, format] : kEndings) {
    if (output.ends_with(ending)) return std::string(format);
  }
  return "human";
}

bool is_picture(const std::string& output) {
  return output.ends_with(".svg") || output.ends_with(".png");
}

/// The name before the colon, and the title behind it.
std::pair<std::string, std::string> split_chart(const std::string& chart) {
  const auto colon = chart.find(':');
  if (colon == std::string::npos) return {chart, ""};
  return {chart.substr(0, colon), chart.substr(colon + 1)};
}

const figures::Figure* find_figure(const std::string& name) {
  const auto found = std::ranges::find(figures::all(), name, &figures::Figure::name);
  return found == figures::all().end() ? nullptr : &*found;
}

Result<void> check_chart(const ReportForm& form) {
  const auto name = split_chart(form.chart).first;
  if (find_figure(name) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& figure : figures::all()) names.push_back(figure.name);
    return fail(
        fmt::format("--chart: there is no chart '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  if (!form.output.empty() && !is_picture(form.output))
    return fail(fmt::format("--chart: {} should end in .svg or .png", form.output));
  if (!form.format.empty() || !form.sections.empty())
    return fail("--chart goes with neither --format nor --sections");
  return {};
}

Result<std::string> picture(const ReportData& data, const ReportForm& form) {
  const auto [name, title] = split_chart(form.chart);
  auto charts = find_figure(name)->make(data);
  if (charts.empty())
    return fail(
        fmt::format("--chart {}: the input holds nothing that this chart could show", name));
  if (!title.empty()) {
    std::string titles;
    for (const auto& chart : charts) titles += (titles.empty() ? "" : ", ") + chart.title;
    std::erase_if(charts, [&](const chart::Chart& chart) { return chart.title != title; });
    if (charts.empty())
      return fail(
          fmt::format("--chart {}: there is none called '{}'; there are {}", name, title, titles));
  }
  auto svg = chart::svg_file(charts);
  if (!form.output.ends_with(".png")) return svg;
  return svg_to_png(svg);
}

}  // namespace

Result<void> check_form(ReportForm& form, size_t inputs) {
  if (!form.output.empty()) {
    if (auto writable = check_writable(form.output); !writable) return writable;
  }
  if (!form.chart.empty()) return check_chart(form);
  if (is_picture(form.output))
    return fail(fmt::format("{} is a picture: say which chart with --chart", form.output));
  if (form.format.empty()) form.format = format_for(form.output);
  if (!form.sections.empty() && form.format != "html")
    return fail(fmt::format("--sections is for html, not for {}", form.format));
  // These hold the facts of one run; facts of several cannot be told apart in them.
  const bool of_one_run = form.format == "json" || form.format == "gbench";
  if (of_one_run && inputs > 1)
    return fail(fmt::format("the format {} holds one run; give one --input", form.format));
  return check_sections(form.sections);
}

Result<std::string> written(const ReportData& data, const ReportForm& form) {
  if (!form.chart.empty()) return picture(data, form);
  if (form.format == "html") return to_html(data, {.sections = form.sections});
  if (form.format == "markdown") return to_markdown(data);
  return find_format(form.format)->write(data.joined);
}

}  // namespace trilobite::cli
