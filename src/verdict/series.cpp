#include "verdict/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/csv.hpp"
#include "base/parse_number.hpp"
#include "stats/sample.hpp"

namespace trilobite::verdict {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<size_t> column(const CsvRow& header, std::initializer_list<std::string_view> names,
                             size_t from = 0) {
  for (size_t i = from; i < header.fields.size(); ++i) {
    if (std::ranges::find(names, lower_case(trimmed(header.fields[i]))) != names.end()) return i;
  }
  return std::nullopt;
}

/// The numbers of the rows, from the column `index`; where there is none, or not of whole numbers,
/// rows are counted from 0.
Result<std::vector<size_t>> row_numbers(const std::vector<CsvRow>& rows) {
  std::vector<size_t> counted(rows.size() - 1);
  std::iota(counted.begin(), counted.end(), size_t{0});
  const auto index = column(rows.front(), {"index"});
  if (!index) return counted;
  std::vector<size_t> numbers;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (*index >= rows[i].fields.size()) return counted;
    const auto text = trimmed(rows[i].fields[*index]);
    const auto number = parse_int(text);
    if (!number || *number < 0) return counted;
    if (!numbers.empty() && static_cast<size_t>(*number) <= numbers.back()) {
      return fail(fmt::format("line {}: index {} comes after {}; rows must be in their order",
                              rows[i].line, text, numbers.back()));
    }
    numbers.push_back(static_cast<size_t>(*number));
  }
  return numbers;
}

bool is_gap(std::string_view text) {
  constexpr std::array<std::string_view, 6> kGaps{"", "nan", "-nan", "na", "n/a", "null"};
  return std::ranges::find(kGaps, lower_case(text)) != kGaps.end();
}

Result<double> value_in(const CsvRow& row, size_t column) {
  const auto text = trimmed(row.fields[column]);
  const auto value = parse_double(text);
  if (!value) return fail(fmt::format("line {}: '{}' is not a finite number", row.line, text));
  if (std::abs(*value) > stats::kMaxMagnitude) {
    return fail(fmt::format("line {}: {} is larger than any measurement", row.line, text));
  }
  return *value;
}

}  // namespace

std::vector<double> Series::values() const {
  std::vector<double> all;
  all.reserve(points.size());
  for (const auto& point : points) all.push_back(point.value);
  return all;
}

Result<Series> series_from_csv(std::string_view text, std::string name) {
  const auto rows = parse_csv(text);
  if (!rows) return fail_from(rows);
  if (rows->empty()) return fail("the file is empty; it needs a header with a column 'value'");
  const auto& header = rows->front();
  const auto value = column(header, {"value"});
  if (!value) return fail("the header (first line) has no column 'value'");
  if (column(header, {"value"}, *value + 1)) return fail("the header has two columns 'value'");
  const auto time = column(header, {"time", "date", "timestamp"});
  const auto commit = column(header, {"commit", "revision"});
  if (rows->size() == 1) return fail("there is a header but no row");
  const auto numbers = row_numbers(*rows);
  if (!numbers) return fail_from(numbers);
  Series series{.name = std::move(name), .unit = {}, .points = {}, .gaps = 0};
  for (size_t i = 1; i < rows->size(); ++i) {
    const auto& row = (*rows)[i];
    if (row.fields.size() != header.fields.size()) {
      return fail(fmt::format("line {}: {} columns, the header has {}", row.line, row.fields.size(),
                              header.fields.size()));
    }
    if (is_gap(trimmed(row.fields[*value]))) {
      ++series.gaps;
      continue;
    }
    const auto number = value_in(row, *value);
    if (!number) return fail_from(number);
    series.points.push_back({.index = (*numbers)[i - 1],
                             .value = *number,
                             .time = time ? row.fields[*time] : "",
                             .commit = commit ? row.fields[*commit] : ""});
  }
  if (series.points.empty()) return fail("no row has a value");
  return series;
}

}  // namespace trilobite::verdict
