// trilobite: one program, a table of subcommands.

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <string_view>

#include "cli/bench_command.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "harness/step_server.hpp"
#include "measure/allocation_count.hpp"
#include "trilobite/version.hpp"

namespace trilobite::cli {
namespace {

struct Subcommand {
  std::string_view name;
  std::string_view what;
  int (*run)(const Arguments&);
};

constexpr std::array kSubcommands{
    Subcommand{"ab", "compare two builds in lock-step", run_ab},
    Subcommand{"baseline", "keep pools of runs to compare later runs with", run_baseline},
    Subcommand{"bench", "run benchmarks",
               [](const Arguments& arguments) { return run_bench(arguments, engine_facts()); }},
    Subcommand{"ci", "build two revisions and compare them, for pull requests", run_ci},
    Subcommand{"compare", "run the same operations on several devices and say which to use",
               run_compare},
    Subcommand{"crossval", "run a model through another engine too, and compare", run_crossval},
    Subcommand{"devices", "list the devices: usable here, or what is missing", run_devices},
    Subcommand{"env", "show the machine, its limits, and what makes numbers doubtful", run_env},
    Subcommand{"fixtures", "make a model file of true shape with random weights", run_fixtures},
    Subcommand{"embed", "turn texts into vectors with a BERT model", run_embed},
    Subcommand{"generate", "continue a text with a model", run_generate},
    Subcommand{"logits", "write the logits of token ids, for comparing engines", run_logits},
    Subcommand{"monitor", "run, store, check and alert, again and again", run_monitor},
    Subcommand{"perplexity", "how well a model predicts a text", run_perplexity},
    Subcommand{"inference", "measure a model: loading, prompts, generation, memory", run_inference},
    Subcommand{"inspect", "check a record or a model file and say what is in it", run_inspect},
    Subcommand{"quantize", "write a model file in other tensor types", run_quantize},
    Subcommand{"regression-check", "compare a run with a baseline", run_regression_check},
    Subcommand{"report", "write a record in another format", run_report},
    Subcommand{"self-test", "measure false alarms and power of the verdicts here", run_self_test},
    Subcommand{"targets", "measure the figures the project set out to reach", run_targets},
    Subcommand{"tokenize", "turn text into token ids, or ids into text", run_tokenize},
    Subcommand{"trend", "find where a series changed its level", run_trend},
};

std::string usage() {
  std::string text =
      "trilobite: low-bit transformer inference, and the lab that proves how fast it is\n\nusage: "
      "trilobite COMMAND "
      "[OPTIONS]\n\n";
  for (const auto& command : kSubcommands)
    text += fmt::format("  {:<17} {}\n", command.name, command.what);
  return text +
         "\n`trilobite COMMAND --help` shows the options of a command; `trilobite --version` the "
         "version.\n";
}

int show(const std::string& text) {
  const auto printed = print(text);
  return printed ? kFine : report_error(printed.error());
}

int run(const std::vector<std::string>& command_line) {
  if (command_line.size() < 2) {
    fmt::print(stderr, "{}", usage());
    return kBadInput;
  }
  const auto& name = command_line[1];
  if (name == "--help" || name == "-h" || name == "help") return show(usage());
  if (name == "--version") return show(fmt::format("trilobite {}\n", version()));
  for (const auto& command : kSubcommands) {
    if (command.name == name)
      return command.run({{command_line.begin() + 2, command_line.end()}, command_line});
  }
  return report_error(
      Error(fmt::format("there is no command '{}'; `trilobite --help` lists them", name)));
}

}  // namespace
}  // namespace trilobite::cli

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error code, not the end
  // The programs that self-test compares have benchmarks of their own.
  const bool self_test = argc > 1 && std::string_view(argv[1]) == "self-test";
  if (trilobite::step_protocol_is_wanted() && !self_test)
    return trilobite::serve_steps_on_standard_streams(trilobite::registered_benchmarks());
  trilobite::use_counting_malloc();
  return trilobite::cli::run({argv, argv + argc});
}
