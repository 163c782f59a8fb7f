#include "report/targets.hpp"

#include <fmt/format.h>

#include <array>

#include "base/json.hpp"
#include "report/display_text.hpp"
#include "report/table.hpp"

namespace trilobite {
namespace {

std::string with_unit(std::string number, const std::string& unit) {
  return unit.empty() ? number : number + " " + unit;
}

Style style_of(TargetOutcome outcome) {
  switch (outcome) {
    case TargetOutcome::met: return Style::good;
    case TargetOutcome::missed: return Style::bad;
    case TargetOutcome::unavailable: break;
  }
  return Style::quiet;
}

Result<Target> read_target(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  for (const char* key : {"name", "limit", "at_least"}) reader.require(key);
  Target target{.name = reader.text("name").value_or(""),
                .limit = reader.number("limit").value_or(0),
                .at_least = reader.boolean("at_least").value_or(true),
                .unit = reader.text("unit").value_or(""),
                .measured = reader.number("measured"),
                .reason = reader.text("reason").value_or("")};
  if (target.measured.has_value() == !target.reason.empty())
    reader.problem("measured", "needs a number, or else a reason why there is none");
  if (auto done = reader.finish_allowing_more(); !done) return fail_from(done);
  return target;
}

}  // namespace

TargetOutcome outcome_of(const Target& target) {
  if (!target.measured) return TargetOutcome::unavailable;
  const bool met =
      target.at_least ? *target.measured >= target.limit : *target.measured < target.limit;
  return met ? TargetOutcome::met : TargetOutcome::missed;
}

std::string_view name_of(TargetOutcome outcome) {
  constexpr std::array<std::string_view, 3> kNames{"missed", "met", "unavailable"};
  return kNames[static_cast<size_t>(outcome)];
}

std::string wanted_text(const Target& target) {
  return with_unit(fmt::format("{} {:g}", target.at_least ? "at least" : "below", target.limit),
                   target.unit);
}

std::string measured_text(const Target& target) {
  return target.measured ? with_unit(fmt::format("{:.3g}", *target.measured), target.unit) : "-";
}

std::string to_console(std::span<const Target> targets, ConsoleOptions options) {
  Table table{{{"target", true}, {"wanted"}, {"measured"}, {"", true}}, {}};
  std::string reasons;
  for (const auto& target : targets) {
    const auto outcome = outcome_of(target);
    table.rows.push_back({{printable(target.name)},
                          {printable(wanted_text(target))},
                          {printable(measured_text(target))},
                          {std::string(name_of(outcome)), style_of(outcome)}});
    if (outcome == TargetOutcome::unavailable)
      reasons +=
          fmt::format("\n{}: unavailable, {}", printable(target.name), printable(target.reason));
  }
  return render(table, options.width, options.color) + reasons + "\n";
}

std::string to_json_text(std::span<const Target> targets) {
  Json list = Json::array();
  for (const auto& target : targets) {
    Json entry{{"name", target.name},
               {"limit", target.limit},
               {"at_least", target.at_least},
               {"unit", target.unit},
               {"measured", target.measured ? Json(*target.measured) : Json()},
               {"outcome", name_of(outcome_of(target))}};
    if (!target.reason.empty()) entry["reason"] = target.reason;
    list.push_back(std::move(entry));
  }
  return json_document({{"schema", kTargetsSchema}, {"targets", std::move(list)}});
}

Result<std::vector<Target>> targets_from_json_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail_from(json);
  if (!json->is_object() || json->value("schema", Json()) != kTargetsSchema)
    return fail(fmt::format("not targets: its schema is not {}", kTargetsSchema));
  ObjectReader reader(*json, "");
  reader.require("targets");
  const Json* list = reader.array("targets");
  if (auto done = reader.finish_allowing_more(); !done) return fail_from(done);
  std::vector<Target> targets;
  for (size_t i = 0; i < list->size(); ++i) {
    auto target = read_target((*list)[i], fmt::format("targets[{}]", i));
    if (!target) return fail_from(target);
    targets.push_back(*std::move(target));
  }
  return targets;
}

}  // namespace trilobite
