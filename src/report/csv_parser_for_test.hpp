#pragma once
// A reader of RFC 4180, small enough to be seen to be right: what our CSV is parsed back with.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trilobite::fixtures {

inline std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      row.push_back(std::move(field));
      field.clear();
      if (c == '\n') {
        rows.push_back(std::move(row));
        row.clear();
      }
    } else {
      field += c;
    }
  }
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
