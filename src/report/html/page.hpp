#pragma once
// The report as one HTML file: no network, no other files, nothing in the data can become markup.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/report_data.hpp"

namespace trilobite {

struct HtmlOptions {
  std::vector<std::string> sections;  // names, in this order; empty: all that have something to say
};

/// Names of all sections, in their usual order.
std::vector<std::string> html_section_names();
/// Fails when a section of that name does not exist.
Result<void> check_sections(const std::vector<std::string>& names);
/// Sections that were asked for appear even when there is nothing to show, and say why.
std::string to_html(const ReportData& data, const HtmlOptions& options = {});

}  // namespace trilobite
