#pragma once
// What a report says first: sentences that follow from the data, each with the measurements behind
// it.

#include <string>
#include <string_view>
#include <vector>

#include "report/report_data.hpp"

namespace trilobite {

enum class FindingKind { fact, best, worst, target_met, target_missed, doubt };

struct Finding {
  FindingKind kind = FindingKind::fact;
  std::string text;
  std::vector<std::string> evidence;  // ids of joined results
};

/// Best and worst first, then targets, then doubts.
std::vector<Finding> findings(const ReportData& data);
/// "fact", "best", "worst", "target met", "target missed", "doubt".
std::string_view name_of(FindingKind kind);

/// How many targets are met, missed and unavailable, and each that is missed.
std::vector<Finding> target_findings(const ReportData& data);
std::vector<Finding> doubt_findings(const ReportData& data);

/// Those that were given, and those of benchmarks: a figure `x` with a figure `x_at_least` or
/// `x_below` beside it. The missed first, the unavailable last.
std::vector<Target> targets_of(const ReportData& data);

}  // namespace trilobite
