#include "verdict/ab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/midmean.hpp"
#include "stats/sequential_symmetry.hpp"

namespace trilobite::verdict {
namespace {

double middle(std::span<const double> values) {
  return values.empty() ? 0 : stats::midmean({values.begin(), values.end()});
}

stats::Interval as_changes(const stats::Interval& logarithms) {
  return {std::expm1(logarithms.low), std::expm1(logarithms.high)};
}

bool is_claim(Answer answer) { return answer == Answer::regressed || answer == Answer::improved; }

void judge_control(AbVerdict& verdict, const AbUnits& units, const AbSettings& settings) {
  verdict.control_change = std::expm1(middle(units.control));
  const auto interval = stats::confidence_sequence(units.control, settings.false_alarms);
  verdict.control_interval = as_changes(interval);
  // A base that differs from itself by more than a claim would need makes every claim doubtful.
  verdict.control_fired =
      !interval.contains(0) && std::abs(middle(units.control)) >= std::log1p(settings.least) / 2;
}

}  // namespace

AbVerdict judge_ab(const AbUnits& units, const AbSettings& settings) {
  AbVerdict verdict;
  verdict.units = units.candidate.size();
  verdict.generations = units.generations;
  const double estimate = middle(units.candidate);
  verdict.change = std::expm1(estimate);
  verdict.change_cpu = std::expm1(middle(units.cpu));
  verdict.e_value = stats::e_value(units.candidate);
  const auto interval = stats::confidence_sequence(units.candidate, settings.false_alarms);
  verdict.interval = as_changes(interval);
  judge_control(verdict, units, settings);
  const double matters = std::log1p(settings.least);
  const bool clear = verdict.e_value >= 1 / settings.false_alarms;
  if (verdict.units < settings.fewest_units) {
    verdict.note = "too few units yet";
  } else if (verdict.control_fired) {
    verdict.note = fmt::format("withheld: the base differs from itself by {:+.2f} %",
                               100 * verdict.control_change);
  } else if (clear && std::abs(estimate) >= matters / 2 &&
             verdict.generations >= settings.fewest_generations) {
    verdict.answer = estimate > 0 ? Answer::regressed : Answer::improved;
  } else if (interval.low > -matters && interval.high < matters &&
             (!clear || std::abs(estimate) < matters / 2)) {
    verdict.answer = Answer::equivalent;
  } else {
    verdict.note =
        clear ? "the programs must be started once more" : "not enough evidence within the time";
  }
  return verdict;
}

bool is_decided(const AbVerdict& verdict, const AbSettings& settings) {
  if (verdict.answer == Answer::equivalent) return true;
  return is_claim(verdict.answer) && verdict.e_value >= 1 / settings.false_alarms;
}

void control_false_discoveries(std::vector<AbVerdict>& verdicts, const AbSettings& settings) {
  std::vector<size_t> order;
  for (size_t i = 0; i < verdicts.size(); ++i)
    if (is_claim(verdicts[i].answer)) order.push_back(i);
  std::ranges::sort(order, std::greater(), [&](size_t i) { return verdicts[i].e_value; });
  const auto tests = static_cast<double>(verdicts.size());
  size_t kept = 0;
  for (size_t rank = 1; rank <= order.size(); ++rank) {
    if (verdicts[order[rank - 1]].e_value >=
        tests / (settings.false_discoveries * static_cast<double>(rank)))
      kept = rank;
  }
  for (size_t rank = kept; rank < order.size(); ++rank) {
    auto& verdict = verdicts[order[rank]];
    verdict.answer = Answer::undecided;
    verdict.note = fmt::format("not enough evidence among {} benchmarks", verdicts.size());
  }
}

AbVerdict confirmed_by(const AbVerdict& first, const AbVerdict& second) {
  AbVerdict verdict = first;
  if (!is_claim(first.answer)) return verdict;
  verdict.control_fired = second.control_fired;
  verdict.confirmed = second.answer == first.answer;
  if (!verdict.confirmed) {
    verdict.answer = Answer::undecided;
    verdict.note = fmt::format("{:+.2f} % at first, {:+.2f} % when repeated: not confirmed",
                               100 * first.change, 100 * second.change);
  }
  return verdict;
}

}  // namespace trilobite::verdict
