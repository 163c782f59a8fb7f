#include "cli/ab_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

#include "cli/stop_signal.hpp"
#include "measure/environment.hpp"
#include "measure/noise.hpp"

namespace trilobite::cli {
namespace {

using std::chrono::steady_clock;

Result<std::vector<std::string>> ids_of(const std::string& name,
                                        const std::vector<std::string>& command,
                                        std::chrono::nanoseconds timeout) {
  auto program = StepClient::start(name, command, timeout);
  if (!program) return fail_from(program);
  return program->list();
}

/// What both have and the pattern selects; what only one of them has becomes a problem.
Result<std::vector<std::string>> common_ids(const AbRequest& request, AbReport& report) {
  std::regex pattern;
  try {
    pattern = std::regex(request.pattern);
  } catch (const std::regex_error&) {
    return fail(fmt::format("'{}' is not a regular expression", request.pattern));
  }
  const auto base = ids_of("base", request.base, request.timeout);
  if (!base) return fail_from(base);
  const auto candidate = ids_of("candidate", request.candidate, request.timeout);
  if (!candidate) return fail_from(candidate);
  const std::set<std::string> in_candidate(candidate->begin(), candidate->end());
  if (in_candidate.size() != candidate->size())
    return fail("the candidate has two benchmarks with one id");
  std::vector<std::string> common;
  std::set<std::string> seen;
  const auto selected = [&](const std::string& id) { return std::regex_search(id, pattern); };
  for (const auto& id : *base) {
    if (!seen.insert(id).second) return fail(fmt::format("the base has '{}' twice", id));
    if (!selected(id)) continue;
    if (in_candidate.contains(id)) {
      common.push_back(id);
    } else {
      report.problems.push_back({id, "the candidate does not have it"});
    }
  }
  for (const auto& id : *candidate)
    if (selected(id) && !seen.contains(id))
      report.problems.push_back({id, "the base does not have it"});
  if (common.empty())
    return fail(fmt::format("no benchmark that both programs have matches '{}'", request.pattern));
  return common;
}

struct UnitColumns {
  std::vector<double> candidate;
  std::vector<double> control;
  std::vector<double> other_control;
  std::vector<double> cpu;
  std::vector<size_t> generation;

  void add(const PairedUnit& unit) {
    candidate.push_back(unit.candidate);
    control.push_back(unit.control);
    other_control.push_back(unit.other_control);
    cpu.push_back(unit.candidate_cpu);
    generation.push_back(unit.generation);
  }
  verdict::AbUnits view(bool fresh) const {
    return {candidate, control, other_control, cpu, generation, fresh};
  }
};

/// Enough for a claim on its own, and for one among all tests.
bool evidence_suffices(const verdict::AbVerdict& verdict, const verdict::AbSettings& settings,
                       size_t tests) {
  if (!is_decided(verdict, settings)) return false;
  return verdict.answer == verdict::Answer::equivalent ||
         verdict.e_value >= static_cast<double>(tests) / settings.false_discoveries;
}

void first_stage(const AbRequest& request, const std::vector<std::string>& ids, AbReport& report) {
  for (size_t i = 0; i < ids.size() && !stop_requested(); ++i) {
    request.on_begin(ids[i]);
    auto verdict = run_stage(request, ids[i], ids.size(), request.seed + 2 * i);
    if (verdict) {
      report.verdicts.push_back(*std::move(verdict));
    } else {
      report.problems.push_back({ids[i], verdict.error().message()});
    }
  }
}

void confirmation_stage(const AbRequest& request, AbReport& report) {
  for (size_t i = 0; i < report.verdicts.size() && !stop_requested(); ++i) {
    auto& verdict = report.verdicts[i];
    const bool claim =
        verdict.answer == verdict::Answer::regressed || verdict.answer == verdict::Answer::improved;
    if (!claim) continue;
    request.on_begin(verdict.benchmark);
    const auto again = run_stage(request, verdict.benchmark, 1, request.seed + 2 * i + 1);
    if (!again) {
      report.problems.push_back({verdict.benchmark, again.error().message()});
      verdict.answer = verdict::Answer::undecided;
      verdict.note = "could not be repeated";
      continue;
    }
    verdict = verdict::confirmed_by(verdict, *again);
  }
}

// So many units would fit into the time if opening took none. A unit of decoding that was opened
// slowly is known best, for the time it takes, at an eighth of a second in trials of 20 s.
constexpr int kUnitsOfStage = 160;

}  // namespace

Result<verdict::AbVerdict> run_stage(const AbRequest& request, const std::string& id, size_t tests,
                                     uint64_t stage_seed) {
  Lockstep lockstep({.base = request.base,
                     .candidate = request.candidate,
                     .benchmark = {id, request.threads, request.seed},
                     .step = request.step,
                     .longest_unit = request.most_time / kUnitsOfStage,
                     .timeout = request.timeout,
                     .seed = stage_seed});
  UnitColumns columns;
  verdict::AbVerdict verdict;
  const auto begin = steady_clock::now();
  const auto another_fits = [&] {
    const auto spent = steady_clock::now() - begin;
    return spent + spent / columns.candidate.size() < request.most_time;
  };
  do {
    const auto unit = lockstep.next_unit();
    if (!unit) return fail_from(unit);
    columns.add(*unit);
    verdict = judge_ab(columns.view(lockstep.opens_fresh()), request.settings);
    if (verdict.by_generation) lockstep.replace_programs_for_every_unit();
  } while (!evidence_suffices(verdict, request.settings, tests) && another_fits() &&
           !stop_requested());
  verdict.benchmark = id;
  return verdict;
}

Result<AbReport> run_ab_suite(const AbRequest& request) {
  AbReport report{.base = fmt::format("{}", fmt::join(request.base, " ")),
                  .candidate = fmt::format("{}", fmt::join(request.candidate, " "))};
  const auto ids = common_ids(request, report);
  if (!ids) return fail_from(ids);
  const auto begin = steady_clock::now();
  const auto cpu_before = read_cpu_times().value_or(CpuTimes());
  first_stage(request, *ids, report);
  verdict::control_false_discoveries(report.verdicts, request.settings);
  // The evidence for one benchmark needs no second look: nothing was selected among many.
  if (request.confirm && ids->size() > 1) confirmation_stage(request, report);
  report.seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  report.steal_share = steal_share_between(cpu_before, read_cpu_times().value_or(cpu_before));
  return report;
}

}  // namespace trilobite::cli
