#pragma once
// Targets, figures that were to be reached: judged, shown in a terminal, kept in a file. `trilobite
// targets` makes them, reports show them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "report/console.hpp"

namespace trilobite {

inline constexpr std::string_view kTargetsSchema = "trilobite.targets/1";

struct Target {
  std::string name;
  double limit = 0;
  bool at_least = true;  // else: below the limit
  std::string unit;
  std::optional<double> measured = std::nullopt;
  std::string reason = "";     // why nothing was measured
  std::string benchmark = "";  // id of the result that states it; empty: of no single one
};

enum class TargetOutcome { missed, met, unavailable };
TargetOutcome outcome_of(const Target& target);
/// "missed", "met", "unavailable".
std::string_view name_of(TargetOutcome outcome);

/// "at least 100 GFLOP/s", "below 5 %".
std::string wanted_text(const Target& target);
/// "103 GFLOP/s"; "-" when nothing was measured.
std::string measured_text(const Target& target);

/// A table, and below it why some are unavailable.
std::string to_console(std::span<const Target> targets, ConsoleOptions options);
/// The file of docs/reports.md, each target with its outcome.
std::string to_json_text(std::span<const Target> targets);
/// Reads it again; the outcome follows from the numbers.
Result<std::vector<Target>> targets_from_json_text(std::string_view text);

}  // namespace trilobite
