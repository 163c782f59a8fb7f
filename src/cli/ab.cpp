#include <fmt/format.h>

#include <algorithm>

#include "base/duration.hpp"
#include "cli/ab_run.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/stop_signal.hpp"
#include "cli/subcommands.hpp"

namespace trilobite::cli {
namespace {

struct AbFlags {
  std::string base;
  std::string candidate;
  std::string pattern;
  std::string most_time = "1s";
  std::string step = "50us";
  std::string timeout = "10s";
  double threshold = 0.01;
  int64_t threads = 1;
  int64_t seed = 42;
  bool no_confirmation = false;
  bool fail_on_regression = false;
  std::string format = "human";
  std::string output;
};

void add_ab_flags(CLI::App& app, AbFlags& flags) {
  app.add_option("--base", flags.base, "the program to compare with: a path, or a command line")
      ->required();
  app.add_option("--candidate", flags.candidate, "the program that may be slower")->required();
  app.add_option("REGEX", flags.pattern, "the benchmarks whose id matches anywhere (default: all)");
  app.add_option("--time", flags.most_time, "at most this long per benchmark (default: 1s)")
      ->check(duration_value());
  app.add_option("--step", flags.step, "length of one turn (default: 50us)")
      ->check(duration_value());
  app.add_option("--timeout", flags.timeout,
                 "a program that takes longer to answer is ended (default: 10s)")
      ->check(duration_value());
  app.add_option("--threshold", flags.threshold,
                 "relative change that matters, 0.01 is 1 % (default: 0.01)")
      ->check(CLI::Range(0.0005, 1.0));
  app.add_option("--threads", flags.threads, "threads of each program (default: 1)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--seed", flags.seed, "seed of inputs and of the order of turns (default: 42)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 53));
  app.add_flag("--no-confirmation", flags.no_confirmation,
               "do not repeat what seems to have changed");
  app.add_flag("--fail-on-regression", flags.fail_on_regression,
               "exit code 1 when something regressed or failed");
  app.add_option("--format", flags.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}));
  app.add_option("--output", flags.output, "where it goes (default: standard output)");
}

/// Words at blanks; quotes keep them together.
Result<std::vector<std::string>> words_of(const std::string& command, const char* flag) {
  auto words = CLI::detail::split_up(command);
  for (auto& word : words) CLI::detail::remove_quotes(word);
  if (words.empty()) return fail(fmt::format("{}: the command is empty", flag));
  return words;
}

Result<AbRequest> request_from(const AbFlags& flags) {
  auto base = words_of(flags.base, "--base");
  if (!base) return fail_from(base);
  auto candidate = words_of(flags.candidate, "--candidate");
  if (!candidate) return fail_from(candidate);
  AbRequest request;
  request.base = *std::move(base);
  request.candidate = *std::move(candidate);
  request.pattern = flags.pattern;
  request.most_time = parse_duration(flags.most_time).value();
  request.step = parse_duration(flags.step).value();
  request.timeout = parse_duration(flags.timeout).value();
  request.threads = static_cast<unsigned>(flags.threads);
  request.seed = static_cast<uint64_t>(flags.seed);
  request.settings.least = flags.threshold;
  request.confirm = !flags.no_confirmation;
  if (stderr_is_terminal())
    request.on_begin = [](const std::string& id) { fmt::print(stderr, "\r\033[K{}", id); };
  return request;
}

bool has_regression(const AbReport& report) {
  return std::ranges::find(report.verdicts, verdict::Answer::regressed,
                           &verdict::AbVerdict::answer) != report.verdicts.end();
}

}  // namespace

int run_ab(const Arguments& arguments) {
  CLI::App app("Compares two builds in lock-step: regressed, improved, equivalent or undecided",
               "ab");
  AbFlags flags;
  add_ab_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto request = request_from(flags);
  if (!request) return report_error(request.error());
  catch_stop_signals();
  const auto report = run_ab_suite(*request);
  if (stderr_is_terminal()) fmt::print(stderr, "\r\033[K");
  if (!report) return report_error(report.error());
  const bool on_terminal = flags.output.empty() && stdout_is_terminal();
  const auto text = flags.format == "json"
                        ? ab_json(*report)
                        : ab_table(*report, on_terminal ? terminal_width() : 0, on_terminal);
  if (auto delivered = deliver(text, flags.output); !delivered)
    return report_error(delivered.error());
  if (stop_requested()) return kInterrupted;
  // A program that crashed or hung is a failure, whether or not regressions were asked about.
  if (!report->problems.empty()) return kGateSaidNo;
  return flags.fail_on_regression && has_regression(*report) ? kGateSaidNo : kFine;
}

}  // namespace trilobite::cli
