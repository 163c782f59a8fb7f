#include "verdict/ab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/clustering.hpp"
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

size_t count_generations(std::span<const size_t> generation) {
  size_t count = 0;
  for (size_t i = 0; i < generation.size(); ++i)
    if (i == 0 || generation[i] != generation[i - 1]) ++count;
  return count;
}

/// What the evidence is counted in: units, or whole generations where the units of one have much
/// in common. Where they have a little, evidence is worth that much less: as e^(1/effect).
struct Evidence {
  bool by_generation = false;
  double effect = 1;
  double exponent = 1;
  double alpha = 0;  // that a confidence sequence of the values is asked for

  Evidence(const AbUnits& units, const AbSettings& settings)
      : effect(std::max(
            1.0, stats::design_effect(
                     {{units.candidate, units.control, units.other_control}, units.generation}))) {
    by_generation = effect > (units.fresh ? settings.common_speed_fresh : settings.common_speed);
    if (!by_generation && !units.fresh) exponent = effect;
    alpha = std::pow(settings.false_alarms, exponent);
  }
  std::vector<double> values(std::span<const double> series, const AbUnits& units) const {
    if (by_generation) return stats::group_midmeans(series, units.generation);
    return {series.begin(), series.end()};
  }
};

void judge_control(AbVerdict& verdict, std::span<const double> control, double alpha,
                   double least) {
  verdict.control_change = std::expm1(middle(control));
  const auto interval = stats::confidence_sequence(control, alpha);
  verdict.control_interval = as_changes(interval);
  // A base that differs from itself by more than a claim would need makes every claim doubtful.
  verdict.control_fired =
      !interval.contains(0) && std::abs(middle(control)) >= std::log1p(least) / 2;
}

std::string why_undecided(const AbVerdict& verdict) {
  if (!verdict.by_generation) return "not enough evidence within the time";
  return fmt::format("not enough evidence: speed differs from start to start ({} starts)",
                     verdict.generations);
}

}  // namespace

AbVerdict judge_ab(const AbUnits& units, const AbSettings& settings) {
  AbVerdict verdict;
  verdict.units = units.candidate.size();
  verdict.generations = count_generations(units.generation);
  const Evidence evidence(units, settings);
  verdict.design_effect = evidence.effect;
  verdict.by_generation = evidence.by_generation;
  const auto values = evidence.values(units.candidate, units);
  const double estimate = middle(values);
  verdict.change = std::expm1(estimate);
  verdict.change_cpu = std::expm1(middle(units.cpu));
  verdict.e_value = std::pow(stats::e_value(values), 1 / evidence.exponent);
  const auto interval = stats::confidence_sequence(values, evidence.alpha);
  verdict.interval = as_changes(interval);
  judge_control(verdict, evidence.values(units.control, units), evidence.alpha, settings.least);
  const double matters = std::log1p(settings.least);
  const bool clear = verdict.e_value >= 1 / settings.false_alarms;
  const size_t starts_needed =
      units.fresh ? settings.fewest_generations_fresh : settings.fewest_generations;
  if (verdict.units < settings.fewest_units) {
    verdict.note = "too few units yet: give it more time (--time)";
  } else if (verdict.control_fired) {
    verdict.note = fmt::format("withheld: the base differs from itself by {:+.2f} %",
                               100 * verdict.control_change);
  } else if (verdict.generations < starts_needed) {
    verdict.note =
        fmt::format("the programs were started {} of {} times: give it more time (--time)",
                    verdict.generations, starts_needed);
  } else if (clear && std::abs(estimate) >= matters / 2) {
    verdict.answer = estimate > 0 ? Answer::regressed : Answer::improved;
  } else if (interval.low > -matters && interval.high < matters) {
    verdict.answer = Answer::equivalent;
  } else {
    verdict.note = why_undecided(verdict);
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
