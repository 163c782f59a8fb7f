// Where the numbers come from: runs, machines, their limits, and all warnings.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/html/markup.hpp"
#include "report/html/sections.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"

namespace trilobite::html {
namespace {

class Facts {
 public:
  void add(std::string_view name, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("<dt>{}</dt><dd>{}</dd>", name, xml_text(value));
  }
  std::string html() const { return "<dl class=\"env\">" + text_ + "</dl>\n"; }

 private:
  std::string text_;
};

std::string caches_text(const CpuInfo& cpu) {
  std::string text;
  for (const auto& cache : cpu.caches) {
    text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", cache.level,
                        cache.type == "Unified" ? "" : cache.type,
                        human_bytes(static_cast<double>(cache.size_bytes)));
  }
  return text;
}

std::string command_text(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string facts_of(const RunRecord& record) {
  const auto& e = record.environment;
  Facts facts;
  facts.add("Run", record.id + (record.complete ? "" : " (incomplete)"));
  facts.add("Started, finished", record.started_at + ", " + record.finished_at);
  facts.add("Command", command_text(record.command));
  facts.add("Version", fmt::format("{}{}{}", record.version,
                                   record.git.commit.empty() ? "" : ", commit " + record.git.commit,
                                   record.git.dirty ? " with changes" : ""));
  facts.add("Threads, instructions, seed",
            fmt::format("{}, {}, {}{}", record.threads, record.isa, record.seed,
                        record.deterministic ? ", deterministic" : ""));
  facts.add("Plan",
            fmt::format("up to {} samples in {} rounds", record.plan.samples, record.plan.rounds));
  facts.add("Processor", fmt::format("{}, {} logical, {} cores", e.cpu.model, e.cpu.logical_cpus,
                                     e.cpu.physical_cores));
  facts.add("Caches", caches_text(e.cpu));
  facts.add("Memory", human_bytes(static_cast<double>(e.memory_bytes)));
  facts.add("System", fmt::format("{}, {}, kernel {}", e.platform, e.os, e.kernel));
  facts.add("Virtualization", e.virtualization);
  facts.add("Governor, turbo", e.governor + "; " + e.turbo);
  facts.add("Counters", e.counters);
  facts.add("Energy", e.energy);
  facts.add("Compiler", fmt::format("{} {} ({})", e.compiler, e.compiler_flags, e.build_type));
  facts.add("Load at start, stolen time",
            fmt::format("{:.2f}, {}", e.load_at_start, human_percent(e.steal_share)));
  facts.add("Fingerprint", e.fingerprint);
  return facts.html();
}

std::string limits_of(const RunRecord& record) {
  if (!record.limits) return "";
  std::string rows;
  for (const auto& limits : record.limits->by_threads) {
    for (const auto& level : limits.bandwidth) {
      rows += fmt::format("<tr><td>{}, {}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                          xml_text(level.level), counted(limits.threads, "thread"),
                          human_rate(level.read, "B/s"), human_rate(level.write, "B/s"),
                          human_rate(level.copy, "B/s"), human_rate(level.triad, "B/s"));
    }
    for (const auto& [kind, rate] : limits.operations) {
      rows +=
          fmt::format("<tr><td>{} arithmetic, {}</td><td colspan=\"4\">{}</td></tr>",
                      xml_text(kind), counted(limits.threads, "thread"), human_rate(rate, "OP/s"));
    }
  }
  return fmt::format(
      "<h3>Measured limits of the machine</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Measured limits\"><table><thead><tr><th scope=\"col\">limit</th><th "
      "scope=\"col\">read</th><th scope=\"col\">write</th><th scope=\"col\">copy</th><th "
      "scope=\"col\">triad</th></tr></thead><tbody>{}</tbody></table></div>\n",
      rows);
}

/// One entry per code and message; those about single benchmarks are counted.
std::string warnings_of(const ReportData& data) {
  std::map<std::pair<std::string, std::string>, std::vector<const Warning*>> by_text;
  for (const auto& warning : data.joined.warnings) {
    const auto message = warning.benchmark.empty() ? warning.message : "";
    by_text[{warning.code, message}].push_back(&warning);
  }
  if (by_text.empty()) return "<p>No warnings.</p>";
  std::string items;
  for (const auto& [key, warnings] : by_text) {
    const auto& first = *warnings.front();
    items += fmt::format("<li class=\"doubt\"><span class=\"kind\">{}</span>{}",
                         xml_text(first.code), xml_text(first.message));
    if (!first.advice.empty()) items += fmt::format(". Advice: {}", xml_text(first.advice));
    if (!first.benchmark.empty()) {
      items +=
          fmt::format("<span class=\"evidence\">{}{}</span>", link_to(data, first.benchmark),
                      warnings.size() > 1 ? fmt::format(" and {} more", warnings.size() - 1) : "");
    }
    items += "</li>\n";
  }
  return "<ul class=\"findings\">" + items + "</ul>\n";
}

}  // namespace

std::string environment_section(const ReportData& data) {
  std::string text = "<h3>Warnings</h3>" + warnings_of(data);
  for (const auto& source : data.sources) {
    text += fmt::format("<h3><bdi>{}</bdi></h3>", xml_text(source.name));
    text += facts_of(source.record) + limits_of(source.record);
  }
  return text;
}

}  // namespace trilobite::html
