#pragma once
// The sections of the page in their order. Each is written by one function; one that has nothing to
// say writes nothing and is left out.

#include <string>
#include <string_view>
#include <vector>

#include "report/report_data.hpp"

namespace trilobite::html {

struct Section {
  std::string_view name;  // of --sections, and the anchor
  std::string_view title;
  std::string (*write)(const ReportData&);
  std::string_view absent;  // why there is nothing, when it was asked for
};

const std::vector<Section>& sections();

std::string summary_section(const ReportData& data);
std::string recommendations_section(const ReportData& data);
std::string comparison_section(const ReportData& data);
std::string times_section(const ReportData& data);
std::string scaling_section(const ReportData& data);
std::string roofline_section(const ReportData& data);
std::string accuracy_section(const ReportData& data);
std::string memory_section(const ReportData& data);
std::string latency_section(const ReportData& data);
std::string regression_section(const ReportData& data);
std::string history_section(const ReportData& data);
std::string benchmarks_section(const ReportData& data);
std::string environment_section(const ReportData& data);
std::string method_section(const ReportData& data);

}  // namespace trilobite::html
