#pragma once
// The formats a record can be written in, by name: one line each.

#include <string>
#include <string_view>
#include <vector>

#include "record/record.hpp"

namespace trilobite::cli {

struct RecordFormat {
  std::string_view name;
  std::string (*write)(const RunRecord&);
};

/// human, json, csv, samples-csv, bencher, gbench, junit, prometheus, markdown, html.
const std::vector<RecordFormat>& record_formats();
/// nullptr when there is none of that name.
const RecordFormat* find_format(std::string_view name);
/// For the help and the check of a flag.
std::vector<std::string> format_names();

}  // namespace trilobite::cli
