#pragma once
// A report in the form that was asked for: a format by name or by the ending of the file, or one
// kind of chart as a picture.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/report_data.hpp"

namespace trilobite::cli {

struct ReportForm {
  std::string format;  // of formats.hpp; empty: what the ending of `output` says, else human
  std::string chart;   // NAME or NAME:TITLE; not empty: only this chart, SVG or PNG
  std::string output;  // empty: standard output
  std::vector<std::string> sections;
};

/// What the form says before any work is done: names that do not exist, things that do not go
/// together. Fills in the format.
Result<void> check_form(ReportForm& form, size_t inputs);

Result<std::string> written(const ReportData& data, const ReportForm& form);

}  // namespace trilobite::cli
