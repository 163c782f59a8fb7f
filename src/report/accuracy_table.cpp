#include "report/accuracy_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/duration.hpp"
#include "report/display_text.hpp"

namespace trilobite {
namespace {

constexpr const char* kSnr = "snr_db";

/// What a record says about one type.
struct TypeFacts {
  std::string type;
  const BenchmarkResult* accuracy = nullptr;             // one that has the figures
  std::map<std::string, const BenchmarkResult*> timing;  // by operation

  /// Infinite for what is exact; what is not known comes last.
  double snr() const {
    const double snr = accuracy->figures.at(kSnr);
    return std::isnan(snr) ? -std::numeric_limits<double>::infinity() : snr;
  }
};

/// Type facts of each "suite shape", types in the order of the record.
using Groups = std::map<std::string, std::vector<TypeFacts>>;

TypeFacts& facts_of(std::vector<TypeFacts>& group, const std::string& type) {
  const auto found = std::ranges::find(group, type, &TypeFacts::type);
  if (found != group.end()) return *found;
  group.push_back({.type = type});
  return group.back();
}

Groups groups_of(const RunRecord& record) {
  Groups groups;
  for (const auto& result : record.benchmarks) {
    if (result.status != Status::ok || !result.statistics || !result.figures.contains(kSnr)) {
      continue;
    }
    auto& facts = facts_of(groups[result.suite + " " + result.shape], result.dtype);
    facts.accuracy = &result;
    facts.timing.emplace(result.operation, &result);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  return groups;
}

std::vector<std::string> operations_of(const Groups& groups) {
  std::vector<std::string> names;
  for (const auto& [heading, types] : groups) {
    for (const auto& facts : types) {
      for (const auto& [operation, result] : facts.timing) {
        if (std::ranges::find(names, operation) == names.end()) names.push_back(operation);
      }
    }
  }
  return names;
}

std::string figure_text(const BenchmarkResult& result, const char* name, const char* format) {
  const auto found = result.figures.find(name);
  if (found == result.figures.end() || std::isnan(found->second)) return "-";
  return std::isinf(found->second) ? "exact" : fmt::format(fmt::runtime(format), found->second);
}

Row row_of(const TypeFacts& facts, const std::vector<std::string>& operations) {
  Row row{{"  " + printable(facts.type)},
          {figure_text(*facts.accuracy, "bits_per_weight", "{:.2f}")},
          {figure_text(*facts.accuracy, "memory_reduction", "{:.2f}x")},
          {figure_text(*facts.accuracy, kSnr, "{:.1f} dB")},
          {figure_text(*facts.accuracy, "rmse", "{:.2e}")}};
  for (const auto& operation : operations) {
    const auto found = facts.timing.find(operation);
    row.push_back(
        {found == facts.timing.end() ? "-" : human_time(found->second->statistics->median),
         Style::heading});
  }
  return row;
}

}  // namespace

Table accuracy_table(const RunRecord& record) {
  auto groups = groups_of(record);
  const auto operations = operations_of(groups);
  Table table{.columns = {{.header = "accuracy versus speed", .left_aligned = true},
                          {.header = "bits", .importance = 6},
                          {.header = "saves", .importance = 3},
                          {.header = "SNR", .importance = 9},
                          {.header = "RMSE", .importance = 2}},
              .rows = {}};
  for (const auto& operation : operations) {
    table.columns.push_back({.header = printable(operation), .importance = 5});
  }
  for (auto& [heading, types] : groups) {
    table.rows.push_back({{printable(heading), Style::heading}});
    // Equally accurate ones by name.
    std::ranges::sort(types, {}, [](const TypeFacts& t) { return std::pair(-t.snr(), t.type); });
    for (const auto& facts : types) table.rows.push_back(row_of(facts, operations));
  }
  return table;
}

}  // namespace trilobite
