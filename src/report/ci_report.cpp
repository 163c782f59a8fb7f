#include "report/ci_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/json.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/markdown_text.hpp"
#include "report/trend_report.hpp"
#include "report/xml_text.hpp"

namespace trilobite {
namespace {

using verdict::AbVerdict;
using verdict::Answer;

size_t count(const CiResult& result, Answer answer) {
  return static_cast<size_t>(std::ranges::count(result.ab.verdicts, answer, &AbVerdict::answer));
}

bool is_critical(const CiResult& result, const AbVerdict& verdict) {
  return verdict.answer == Answer::regressed && verdict.change >= result.critical;
}

/// The slowest first among the regressed, then what improved, what is undecided, what is equal.
std::vector<const AbVerdict*> by_importance(const CiResult& result) {
  std::vector<const AbVerdict*> order;
  for (const auto& verdict : result.ab.verdicts) order.push_back(&verdict);
  const auto rank = [](const AbVerdict* verdict) {
    switch (verdict->answer) {
      case Answer::regressed: return 0;
      case Answer::improved: return 1;
      case Answer::undecided: return 2;
      case Answer::equivalent: break;
    }
    return 3;
  };
  std::ranges::stable_sort(order, [&](const AbVerdict* a, const AbVerdict* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 0 && a->change > b->change;
  });
  return order;
}

std::string answer_of(const CiResult& result, const AbVerdict& verdict) {
  if (is_critical(result, verdict)) return "critical";
  return std::string(verdict::name_of(verdict.answer));
}

std::string interval_of(const AbVerdict& verdict) {
  return fmt::format("{} to {}", human_change(verdict.interval.low),
                     human_change(verdict.interval.high));
}

std::string revision_text(const Revision& revision) {
  return fmt::format("{} `{}` {}", markdown_text(revision.name), revision.commit.substr(0, 10),
                     markdown_text(revision.subject));
}

std::string rows(const CiResult& result, bool equivalent) {
  std::string text;
  for (const auto* verdict : by_importance(result)) {
    if ((verdict->answer == Answer::equivalent) != equivalent) continue;
    const auto answer = answer_of(result, *verdict);
    const bool worse = verdict->answer == Answer::regressed;
    text += markdown_row({markdown_text(verdict->benchmark), worse ? "**" + answer + "**" : answer,
                          markdown_text(human_change(verdict->change)),
                          markdown_text(interval_of(*verdict)),
                          markdown_text(human_change(verdict->change_cpu)),
                          verdict->confirmed ? "confirmed" : markdown_text(verdict->note)});
  }
  if (text.empty()) return text;
  return markdown_row({"benchmark", "answer", "time", "99 % at any time", "CPU time", ""}) +
         "|---|---|---:|---|---:|---|\n" + text + "\n";
}

Json json_of(const Revision& revision) {
  return {{"revision", valid_utf8(revision.name)},
          {"commit", revision.commit},
          {"subject", valid_utf8(revision.subject)}};
}

std::string junit_outcome(const CiResult& result, const AbVerdict& verdict) {
  const auto text =
      xml_text(fmt::format("{}: {} ({}) {}", answer_of(result, verdict),
                           human_change(verdict.change), interval_of(verdict), verdict.note));
  if (verdict.answer == Answer::regressed)
    return fmt::format("<failure type=\"{}\" message=\"{}\"/>", answer_of(result, verdict), text);
  if (verdict.answer == Answer::undecided) return fmt::format("<skipped message=\"{}\"/>", text);
  return fmt::format("<system-out>{}</system-out>", text);
}

}  // namespace

CiStatus status_of(const CiResult& result) {
  const auto critical = [&](const AbVerdict& verdict) { return is_critical(result, verdict); };
  if (std::ranges::any_of(result.ab.verdicts, critical)) return CiStatus::critical;
  if (!result.ab.problems.empty()) return CiStatus::failed;
  return count(result, Answer::regressed) > 0 ? CiStatus::regressed : CiStatus::pass;
}

std::string_view name_of(CiStatus status) {
  constexpr std::array<std::string_view, 4> kNames{"pass", "regressed", "critical", "failed"};
  return kNames[static_cast<size_t>(status)];
}

std::string ci_headline(const CiResult& result) {
  const auto regressed = count(result, Answer::regressed);
  std::string worst;
  if (regressed > 0) {
    const auto* verdict = by_importance(result).front();
    worst = fmt::format(" (worst {}: {})", human_change(verdict->change),
                        printable(verdict->benchmark));
  }
  return fmt::format("{} regressed{}, {} improved, {} equivalent, {} undecided, {} problem{}",
                     regressed, worst, count(result, Answer::improved),
                     count(result, Answer::equivalent), count(result, Answer::undecided),
                     result.ab.problems.size(), result.ab.problems.size() == 1 ? "" : "s");
}

std::string ci_markdown(const CiResult& result) {
  std::string text = fmt::format("## Performance: {}\n\n{}\n\n", name_of(status_of(result)),
                                 markdown_text(ci_headline(result)));
  text += rows(result, false);
  for (const auto& problem : result.ab.problems)
    text +=
        fmt::format("- {}: {}\n", markdown_text(problem.benchmark), markdown_text(problem.what));
  if (!result.ab.problems.empty()) text += "\n";
  if (const auto same = rows(result, true); !same.empty())
    text += fmt::format("<details><summary>{} equivalent</summary>\n\n{}</details>\n\n",
                        count(result, Answer::equivalent), same);
  return text + fmt::format(
                    "Head {} against base {}, in turns on one machine ({}), {:.0f} s, {} of the "
                    "CPU time stolen. Plus is slower; a change of {} matters, {} is critical.\n",
                    revision_text(result.head), revision_text(result.base),
                    markdown_text(result.machine), result.ab.seconds,
                    human_percent(result.ab.steal_share), human_percent(result.threshold),
                    human_percent(result.critical));
}

std::string ci_json(const CiResult& result) {
  const Json json{{"schema", "trilobite.ci/1"},
                  {"status", name_of(status_of(result))},
                  {"base", json_of(result.base)},
                  {"head", json_of(result.head)},
                  {"machine", valid_utf8(result.machine)},
                  {"threshold", result.threshold},
                  {"critical", result.critical},
                  {"ab", parse_json(ab_json(result.ab)).value()}};
  return json_document(json);
}

std::string ci_junit(const CiResult& result) {
  const auto& ab = result.ab;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"trilobite ci "
      "{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      xml_text(result.base.name), ab.verdicts.size() + ab.problems.size(),
      count(result, Answer::regressed), ab.problems.size(), count(result, Answer::undecided));
  for (const auto& verdict : ab.verdicts) {
    text += fmt::format("<testcase classname=\"ab\" name=\"{}\">{}</testcase>\n",
                        xml_text(verdict.benchmark), junit_outcome(result, verdict));
  }
  for (const auto& problem : ab.problems) {
    text +=
        fmt::format("<testcase classname=\"ab\" name=\"{}\"><error message=\"{}\"/></testcase>\n",
                    xml_text(problem.benchmark), xml_text(problem.what));
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace trilobite
