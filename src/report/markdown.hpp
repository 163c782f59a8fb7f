#pragma once
// A report as Markdown: findings, a table of all benchmarks, recommendations, warnings.

#include <string>

#include "report/report_data.hpp"

namespace trilobite {

std::string to_markdown(const ReportData& data);

}  // namespace trilobite
