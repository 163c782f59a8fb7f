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
  /// Units (placements in memory) and generations (starts of the programs) that an answer rests
  /// on. With fewer generations nobody could tell whether their units have something in common.
  size_t fewest_units = 6;
  size_t fewest_generations = 4;
  size_t fewest_generations_fresh = 2;
  /// From this design effect (stats/clustering.hpp) on, a program is taken to keep a speed of its
  /// own from its start to its end, and a whole generation counts as one value. Of programs that
  /// open in fresh processes it takes a clear sign: they share addresses of code only.
  double common_speed = 2.5;
  double common_speed_fresh = 6;
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
  /// How much further generations scatter than their units would make them.
  double design_effect = 1;
  bool by_generation = false;  // each generation counted as one value
  std::string note;
};

/// One value per unit in each span, as logarithms. When nothing changed, each is as likely to be
/// positive as negative.
struct AbUnits {
  std::span<const double> candidate;
  std::span<const double> control;
  std::span<const double> other_control;
  std::span<const double> cpu;
  std::span<const size_t> generation;  // that each unit belongs to; numbers only grow
  bool fresh = false;                  // each unit had processes of its own
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
