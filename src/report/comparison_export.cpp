// The forms of a comparison that programs and pages read: JSON, CSV, Markdown.
#include <fmt/format.h>

#include "base/duration.hpp"
#include "record/record_json.hpp"
#include "report/comparison.hpp"
#include "report/csv_text.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/markdown_text.hpp"

namespace trilobite {
namespace {

Json json_of(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"value", number_or_null(ratio->value)},
          {"ci95", {number_or_null(ratio->ci95.low), number_or_null(ratio->ci95.high)}}};
}

Json json_of(const DeviceEntry& entry) {
  Json json{{"device", valid_utf8(entry.device)},
            {"id", valid_utf8(entry.id)},
            {"status", name_of(entry.status)}};
  if (entry.status != Status::ok) {
    json["reason"] = valid_utf8(entry.reason);
    return json;
  }
  json["median_ns"] = number_or_null(entry.median_ns);
  json["median_ci95_ns"] = {number_or_null(entry.median_ci95.low),
                            number_or_null(entry.median_ci95.high)};
  json["samples"] = entry.samples;
  json["throughput"] = to_json(entry.throughput);
  json["allocated_bytes"] = entry.memory ? Json(entry.memory->allocated_bytes) : Json(nullptr);
  json["peak_bytes"] = entry.memory ? Json(entry.memory->peak_bytes) : Json(nullptr);
  json["speedup"] = json_of(entry.speedup);
  return json;
}

Json json_of(const ComparisonGroup& group) {
  Json parameters = Json::object();
  for (const auto& [name, value] : group.parameters) {
    parameters[valid_utf8(name)] = valid_utf8(value);
  }
  Json entries = Json::array();
  for (const auto& entry : group.entries) entries.push_back(json_of(entry));
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(valid_utf8(text));
  };
  return {{"suite", valid_utf8(group.suite)},    {"operation", valid_utf8(group.operation)},
          {"dtype", valid_utf8(group.dtype)},    {"shape", valid_utf8(group.shape)},
          {"parameters", std::move(parameters)}, {"outcome", name_of(group.outcome)},
          {"fastest", or_null(group.fastest)},   {"runner_up", or_null(group.runner_up)},
          {"lead", json_of(group.lead)},         {"devices", std::move(entries)}};
}

Json json_of(const Recommendation& advice) {
  Json evidence = Json::array();
  for (const auto& id : advice.evidence) evidence.push_back(valid_utf8(id));
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(valid_utf8(text));
  };
  return {{"suite", valid_utf8(advice.suite)},
          {"operation", valid_utf8(advice.operation)},
          {"dtype", valid_utf8(advice.dtype)},
          {"sizes", advice.sizes},
          {"device", text_or_null(advice.device)},
          {"runner_up", text_or_null(advice.runner_up)},
          {"lead", advice.runner_up.empty() ? Json(nullptr) : json_of(std::optional(advice.lead))},
          {"decisive", advice.decisive},
          {"cases", advice.groups},
          {"won", advice.won},
          {"lost", advice.lost},
          {"text", valid_utf8(advice.text)},
          {"evidence", std::move(evidence)}};
}

std::vector<std::string> csv_fields(const ComparisonGroup& group, const DeviceEntry& entry) {
  const bool ok = entry.status == Status::ok;
  const auto ns = [&](double value) { return ok ? csv_number(value) : std::string(); };
  const auto ratio = [](const std::optional<Ratio>& r, auto pick) {
    return r ? csv_number(pick(*r)) : std::string();
  };
  const auto value = [](const Ratio& r) { return r.value; };
  const auto low = [](const Ratio& r) { return r.ci95.low; };
  const auto high = [](const Ratio& r) { return r.ci95.high; };
  return {csv_field(group.suite),
          csv_field(group.operation),
          csv_field(group.dtype),
          csv_field(case_of(group)),
          csv_field(entry.device),
          csv_field(entry.id),
          std::string(name_of(entry.status)),
          csv_field(entry.reason),
          fmt::to_string(entry.samples),
          ns(entry.median_ns),
          ns(entry.median_ci95.low),
          ns(entry.median_ci95.high),
          ratio(entry.speedup, value),
          ratio(entry.speedup, low),
          ratio(entry.speedup, high),
          entry.memory ? fmt::to_string(entry.memory->allocated_bytes) : "",
          csv_field(name_of(group.outcome)),
          csv_field(group.fastest)};
}

std::string markdown_cell(const ComparisonGroup& group, const DeviceEntry* entry,
                          bool is_baseline) {
  if (entry == nullptr) return "";
  if (entry->status != Status::ok) return std::string(name_of(entry->status));
  auto text = human_time(entry->median_ns);
  if (entry->speedup && !is_baseline) {
    text += fmt::format(" ({}, {})", human_ratio(entry->speedup->value),
                        human_ratios(entry->speedup->ci95));
  }
  const bool wins = group.outcome == Outcome::winner && group.fastest == entry->device;
  return wins ? "**" + text + "**" : text;
}

}  // namespace

Json to_json(const Comparison& comparison) {
  Json json{{"schema", kComparisonSchema},
            {"run", valid_utf8(comparison.run_id)},
            {"started_at", valid_utf8(comparison.started_at)},
            {"cpu", valid_utf8(comparison.cpu)},
            {"threads", comparison.threads},
            {"baseline", valid_utf8(comparison.baseline)}};
  const auto list = [&](const char* name, const auto& values, auto convert) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(convert(value));
    json[name] = std::move(array);
  };
  list("devices", comparison.devices, [](const std::string& text) { return valid_utf8(text); });
  list("groups", comparison.groups, [](const ComparisonGroup& group) { return json_of(group); });
  list("recommendations", comparison.recommendations,
       [](const Recommendation& advice) { return json_of(advice); });
  list("notes", comparison.notes, [](const std::string& text) { return valid_utf8(text); });
  list("warnings", comparison.warnings, [](const Warning& warning) {
    return Json{{"code", valid_utf8(warning.code)},
                {"message", valid_utf8(warning.message)},
                {"advice", valid_utf8(warning.advice)},
                {"benchmark", valid_utf8(warning.benchmark)}};
  });
  return json;
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      csv_line({"suite", "operation", "dtype", "case", "device", "id", "status", "reason",
                "samples", "median_ns", "median_ci95_low_ns", "median_ci95_high_ns", "speedup",
                "speedup_ci95_low", "speedup_ci95_high", "allocated_bytes", "outcome", "fastest"});
  for (const auto& group : comparison.groups) {
    for (const auto& entry : group.entries) text += csv_line(csv_fields(group, entry));
  }
  return text;
}

std::string to_markdown(const Comparison& comparison) {
  std::vector<std::string> header = {"operation", "dtype", "case", "fastest"};
  for (const auto& device : comparison.devices) header.push_back(markdown_text(device));
  std::string text = markdown_row(header);
  text += markdown_row(std::vector<std::string>(header.size(), "---"));
  for (const auto& group : comparison.groups) {
    const bool wins = group.outcome == Outcome::winner;
    std::vector<std::string> row = {
        markdown_text(group.suite + "/" + group.operation), markdown_text(group.dtype),
        markdown_text(case_of(group)),
        wins ? markdown_text(group.fastest) : std::string(name_of(group.outcome))};
    for (const auto& device : comparison.devices) {
      row.push_back(markdown_cell(group, entry_of(group, device), device == comparison.baseline));
    }
    text += markdown_row(row);
  }
  text += fmt::format("\nSpeed-ups against {} with 95 % intervals; bold: fastest beyond doubt.\n\n",
                      markdown_text(comparison.baseline));
  for (const auto& advice : comparison.recommendations) {
    text += "- " + markdown_text(advice.text) + "\n";
  }
  for (const auto& note : comparison.notes) text += "- note: " + markdown_text(note) + "\n";
  for (const auto& warning : comparison.warnings) {
    text += fmt::format("- warning: {}\n", markdown_text(warning.code + ": " + warning.message));
  }
  return text;
}

}  // namespace trilobite
