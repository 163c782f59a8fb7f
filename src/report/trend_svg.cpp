// The chart of `trend`.
#include "report/chart/render.hpp"
#include "report/figures/figures.hpp"
#include "report/trend_report.hpp"

namespace trilobite {

std::string trend_svg(std::span<const verdict::Trend> trends) {
  std::vector<chart::Chart> charts;
  for (const auto& trend : trends) charts.push_back(figures::trend(trend));
  return chart::svg_file(charts, 960);
}

}  // namespace trilobite
