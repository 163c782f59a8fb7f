#pragma once
// The decision of `ab`: from paired log ratios of two builds to regressed, improved, equivalent or
// undecided, at any time one cares to look, for one benchmark and for a suite of them.

#include <span>
#include <string>
#include <vector>

#include "stats/interval.hpp"
#include "verdict/regression.hpp"

namespace trilobite::verdict {

struct AbSettings {
  double least = 0.01;              // relative change that matters
  double false_alarms = 0.01;       // chance that an unchanged benchmark is ever called changed
  double false_discoveries = 0.05;  // share of false claims over a suite
  /// Units (placements in memory) and generations of the programs that a claim rests on.
  size_t fewest_units = 6;
  size_t fewest_generations = 2;
};

/// What the units of one benchmark say. Ratios as changes: 0.01 is 1 % slower.
struct AbVerdict {
  std::string benchmark;
  Answer answer = Answer::undecided;
  double change = 0;
  stats::Interval interval;   // confidence sequence
  double e_value = 1;         // evidence against "nothing changed"
  double change_cpu = 0;      // by CPU time
  double control_change = 0;  // the base against itself
  stats::Interval control_interval;
  bool control_fired = false;  // then there is no answer
  bool confirmed = false;      // by a second stage with new processes
  size_t units = 0;            // placements in memory
  size_t generations = 0;
  std::string note;
};

/// One value per unit in each span, as logarithms. When nothing changed, each is as likely to be
/// positive as negative.
struct AbUnits {
  std::span<const double> candidate;
  std::span<const double> control;
  std::span<const double> cpu;
  size_t generations = 0;
};

AbVerdict judge_ab(const AbUnits& units, const AbSettings& settings);

/// True when more units cannot change what judge_ab said, or need not: it is decided.
bool is_decided(const AbVerdict& verdict, const AbSettings& settings);

/// Keeps the claims that the suite as a whole supports (e-BH, Wang & Ramdas 2022) and makes the
/// others undecided.
void control_false_discoveries(std::vector<AbVerdict>& verdicts, const AbSettings& settings);

/// Joins the first stage with the second: a claim stands when the second, on its own units, agrees.
AbVerdict confirmed_by(const AbVerdict& first, const AbVerdict& second);

}  // namespace trilobite::verdict
