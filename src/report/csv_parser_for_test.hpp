#pragma once
// Our CSV parsed back, as rows of fields or as columns by name.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"

namespace trilobite::fixtures {

inline std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  auto parsed = trilobite::parse_csv(text).value();
  for (auto& row : parsed) rows.push_back(std::move(row.fields));
  return rows;
}

/// Each row as column name -> field; a row of another length than the header is left short.
inline std::vector<std::map<std::string, std::string>> csv_records(std::string_view text) {
  const auto rows = parse_csv(text);
  std::vector<std::map<std::string, std::string>> records;
  for (size_t i = 1; i < rows.size(); ++i) {
    auto& record = records.emplace_back();
    for (size_t j = 0; j < rows[i].size() && j < rows[0].size(); ++j) {
      record[rows[0][j]] = rows[i][j];
    }
  }
  return records;
}

}  // namespace trilobite::fixtures
