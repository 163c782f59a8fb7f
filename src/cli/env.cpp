#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/thread_pool.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "kernels/isa.hpp"
#include "measure/environment.hpp"
#include "measure/limits.hpp"
#include "record/record_json.hpp"

namespace trilobite::cli {
namespace {

std::string facts_text(const Environment& environment) {
  const auto& cpu = environment.cpu;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  line("platform", environment.platform);
  line("system", fmt::format("{}, kernel {}", environment.os, environment.kernel));
  line("processor", fmt::format("{} ({})", cpu.model, cpu.vendor));
  line("cores",
       fmt::format("{} logical, {} physical, {} socket{}, {} NUMA node{}", cpu.logical_cpus,
                   cpu.physical_cores, cpu.sockets, cpu.sockets == 1 ? "" : "s", cpu.numa_nodes,
                   cpu.numa_nodes == 1 ? "" : "s"));
  for (const auto& cache : cpu.caches) {
    if (cache.type == "Instruction") continue;
    line(fmt::format("L{} cache", cache.level).c_str(),
         fmt::format("{} KiB, shared by {}", cache.size_bytes / 1024, cache.shared_by));
  }
  line("memory",
       fmt::format("{:.1f} GiB", static_cast<double>(environment.memory_bytes) / (1 << 30)));
  line("kernels", fmt::format("{}", fmt::join(kernels::available_isas(), ", ")));
  line("governor", environment.governor);
  line("turbo", environment.turbo);
  line("virtualization", environment.virtualization);
  line("counters", environment.counters);
  line("energy", environment.energy);
  line("compiler", fmt::format("{}, {} ({})", environment.compiler, environment.build_type,
                               environment.compiler_flags));
  line("fingerprint", environment.fingerprint);
  return text;
}

std::string limits_text(const MachineLimits& limits) {
  std::string text = fmt::format("\nmeasured limits ({}, {})\n", limits.isa, limits.measured_at);
  for (const auto& entry : limits.by_threads) {
    text += fmt::format("  {} thread{}\n", entry.threads, entry.threads == 1 ? "" : "s");
    for (const auto& level : entry.bandwidth) {
      text += fmt::format(
          "    {:<8}read {:7.1f}   write {:7.1f}   copy {:7.1f}   triad {:7.1f} GB/s\n",
          level.level, level.read / 1e9, level.write / 1e9, level.copy / 1e9, level.triad / 1e9);
    }
    for (const auto& [type, rate] : entry.operations) {
      text += fmt::format("    {:<8}{:7.1f} GOP/s\n", type, rate / 1e9);
    }
  }
  return text;
}

std::string doubts_text(const std::vector<Warning>& doubts) {
  if (doubts.empty()) return "\nnothing here makes numbers doubtful\n";
  std::string text = "\nwhat makes numbers from this machine doubtful\n";
  for (const auto& doubt : doubts)
    text += fmt::format("  {}\n      -> {}\n", doubt.message, doubt.advice);
  return text;
}

/// One thread and all of them: what `bench` uses by default.
std::vector<unsigned> usual_thread_counts() {
  const unsigned all = usable_cpus();
  return all == 1 ? std::vector<unsigned>{1} : std::vector<unsigned>{1, all};
}

}  // namespace

int run_env(const Arguments& arguments) {
  CLI::App app("Shows the machine, its measured limits, and what makes numbers doubtful", "env");
  std::string format = "human";
  bool refresh = false;
  bool no_limits = false;
  app.add_option("--format", format, "human or json")->check(CLI::IsMember({"human", "json"}));
  app.add_flag("--refresh-limits", refresh, "measure the limits again");
  app.add_flag("--no-limits", no_limits, "do not measure or show the limits");
  if (const auto over = parse(app, arguments)) return *over;
  const auto environment = read_environment();
  const auto doubts = doubts_about(environment, build_info());
  std::optional<MachineLimits> limits;
  if (!no_limits) {
    auto measured = limits_of_this_machine(environment, usual_thread_counts(), refresh);
    if (!measured) return report_error(measured.error());
    limits = *std::move(measured);
  }
  std::string text;
  if (format == "json") {
    Json json{{"environment", to_json(environment)},
              {"limits", limits ? to_json(*limits) : Json()}};
    for (const auto& doubt : doubts) {
      json["doubts"].push_back(
          {{"code", doubt.code}, {"message", doubt.message}, {"advice", doubt.advice}});
    }
    text = json_document(json);
  } else {
    text = facts_text(environment) + (limits ? limits_text(*limits) : "") + doubts_text(doubts);
  }
  const auto printed = print(text);
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
