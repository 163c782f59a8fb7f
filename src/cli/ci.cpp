#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "base/cpu_info.hpp"
#include "base/duration.hpp"
#include "cli/ab_run.hpp"
#include "cli/ci_tree.hpp"
#include "cli/exit_code.hpp"
#include "cli/stop_signal.hpp"
#include "cli/subcommands.hpp"
#include "cli/temporary_path.hpp"
#include "notify/github.hpp"
#include "report/ci_report.hpp"

namespace trilobite::cli {
namespace {

constexpr const char* kCommentMarker = "<!-- trilobite ci -->";
constexpr const char* kIssueMarker = "<!-- trilobite ci: critical -->";
constexpr const char* kIssueLabel = "performance-regression";

struct CiFlags {
  std::string base;
  std::string head;
  std::string filter;
  std::string output = "results/ci";
  std::string most_time = "1s";
  double threshold = 0.05;
  double critical = 0.15;
  std::string work;
  std::string build_command;
  std::string program = "build/run/bin/trilobite";
  std::string build_timeout = "1h";
  int64_t comment = 0;
  bool issue_on_critical = false;
};

void add_ci_flags(CLI::App& app, CiFlags& flags) {
  app.add_option("--base", flags.base, "the revision to compare with")->required();
  app.add_option("--head", flags.head,
                 "the revision that may be slower (default: HEAD, with nothing uncommitted)");
  app.add_option("--filter", flags.filter,
                 "the benchmarks whose id matches this regular expression anywhere (default: all)");
  app.add_option("--output", flags.output,
                 "folder of ci.md, ci.json, ci.xml and the build logs (default: results/ci)");
  app.add_option("--time", flags.most_time, "at most this long per benchmark (default: 1s)")
      ->check(duration_value());
  app.add_option("--threshold", flags.threshold,
                 "relative change that matters, 0.05 is 5 % (default: 0.05)")
      ->check(CLI::Range(0.0005, 1.0));
  app.add_option("--critical", flags.critical,
                 "a regression from here on is critical (default: 0.15)")
      ->check(CLI::Range(0.0005, 100.0));
  app.add_option("--work", flags.work, "build below this folder (default: a temporary one)");
  app.add_option("--build-command", flags.build_command,
                 "for /bin/sh, run in each tree (default: cmake into build/run)");
  app.add_option("--program", flags.program,
                 "the benchmark program in each tree (default: build/run/bin/trilobite)");
  app.add_option("--build-timeout", flags.build_timeout,
                 "a build that takes longer is ended (default: 1h)")
      ->check(duration_value());
  app.add_option("--comment", flags.comment, "comment on this pull request of GITHUB_REPOSITORY")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 53));
  app.add_flag("--issue-on-critical", flags.issue_on_critical,
               "open an issue of GITHUB_REPOSITORY when a regression is critical");
}

/// The token is ours alone: what we build and run must not find it in its environment.
Result<std::optional<notify::GitHub>> github_for(const CiFlags& flags) {
  if (flags.comment == 0 && !flags.issue_on_critical) return std::nullopt;
  auto github = notify::github_from([](const char* name) { return std::getenv(name); });
  if (!github) return fail_from(github);
  ::unsetenv("GITHUB_TOKEN");
  return *std::move(github);
}

struct Plan {
  Path repository;
  Revision base;
  Revision head;
  BuildPlan build;
};

Result<Plan> plan_from(const CiFlags& flags) {
  Plan plan;
  if (auto checked = check_program_path(flags.program); !checked) return fail_from(checked);
  auto repository = repository_root();
  if (!repository) return fail_from(repository);
  plan.repository = *std::move(repository);
  auto base = find_revision(plan.repository, flags.base);
  if (!base) return fail_from(base, "--base");
  plan.base = *std::move(base);
  auto head = find_revision(plan.repository, flags.head.empty() ? "HEAD" : flags.head);
  if (!head) return fail_from(head, "--head");
  plan.head = *std::move(head);
  if (flags.head.empty())
    if (auto clean = check_nothing_uncommitted(plan.repository); !clean) return fail_from(clean);
  auto command = flags.build_command.empty() ? default_build_command() : flags.build_command;
  if (!command) return fail_from(command);
  plan.build = {*std::move(command), flags.program, parse_duration(flags.build_timeout).value()};
  return plan;
}

void say(const std::string& text) { fmt::print(stderr, "{}\n", text); }

/// Both trees exist until both programs have run.
Result<AbReport> build_and_compare(const Plan& plan, const CiFlags& flags, const Path& work) {
  const auto build = [&](const Worktree& tree, const Revision& revision, const char* side) {
    say(fmt::format("building {} ({})", side, revision.commit.substr(0, 10)));
    return build_tree(tree, plan.build, Path(flags.output) / fmt::format("{}-build.log", side));
  };
  const auto base_tree = Worktree::add(plan.repository, plan.base, work / "base");
  if (!base_tree) return fail_from(base_tree, "base");
  const auto base = build(*base_tree, plan.base, "base");
  if (!base) return fail_from(base, "base " + plan.base.commit.substr(0, 10));
  const auto head_tree = Worktree::add(plan.repository, plan.head, work / "head");
  if (!head_tree) return fail_from(head_tree, "head");
  const auto head = build(*head_tree, plan.head, "head");
  if (!head) return fail_from(head, "head " + plan.head.commit.substr(0, 10));
  AbRequest request;
  request.base = {base->string()};
  request.candidate = {head->string()};
  request.pattern = flags.filter;
  request.most_time = parse_duration(flags.most_time).value();
  request.settings.least = flags.threshold;
  say("comparing");
  return run_ab_suite(request);
}

Result<void> write_files(const CiResult& result, const Path& folder) {
  for (const auto& [name, text] :
       {std::pair{"ci.md", ci_markdown(result)}, std::pair{"ci.json", ci_json(result)},
        std::pair{"ci.xml", ci_junit(result)}}) {
    if (auto written = write_file_atomically(folder / name, text); !written) return written;
  }
  return {};
}

/// Everything that was asked for is tried; the first failure is returned.
Result<void> tell(const notify::GitHub& github, const CiFlags& flags, const CiResult& result) {
  Result<void> told;
  if (flags.comment > 0)
    told = comment_on_pull_request(github, static_cast<uint64_t>(flags.comment),
                                   {kCommentMarker, "", ci_markdown(result)});
  if (flags.issue_on_critical && status_of(result) == CiStatus::critical) {
    auto raised =
        raise_issue(github, kIssueLabel,
                    {kIssueMarker, "Critical performance regression: " + ci_headline(result),
                     ci_markdown(result)});
    if (told) told = std::move(raised);
  }
  return told;
}

int finish(const CiResult& result, const CiFlags& flags,
           const std::optional<notify::GitHub>& github) {
  if (auto written = write_files(result, flags.output); !written)
    return report_error(written.error());
  if (auto printed = print(ci_markdown(result)); !printed) return report_error(printed.error());
  int code = status_of(result) == CiStatus::pass ? kFine : kGateSaidNo;
  if (github) {
    const auto told = tell(*github, flags, result);
    if (!told) {
      const int failure = report_error(told.error().context("GitHub"));
      if (code == kFine) code = failure;
    }
  }
  return code;
}

}  // namespace

int run_ci(const Arguments& arguments) {
  CLI::App app("Builds two revisions of this repository and compares them in lock-step", "ci");
  CiFlags flags;
  add_ci_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto github = github_for(flags);
  if (!github) return report_error(github.error());
  const auto plan = plan_from(flags);
  if (!plan) return report_error(plan.error());
  if (auto writable = check_writable(Path(flags.output) / "ci.json"); !writable)
    return report_error(writable.error());
  catch_stop_signals();
  std::optional<TemporaryPath> temporary;
  if (flags.work.empty()) temporary.emplace();
  auto report = build_and_compare(
      *plan, flags, temporary ? temporary->path() : std::filesystem::absolute(flags.work));
  if (stop_requested()) return kInterrupted;
  if (!report) return report_error(report.error());
  report->base = fmt::format("{} ({})", plan->base.name, plan->base.commit.substr(0, 10));
  report->candidate = fmt::format("{} ({})", plan->head.name, plan->head.commit.substr(0, 10));
  return finish({plan->base, plan->head, read_cpu_info().model, flags.threshold, flags.critical,
                 *std::move(report)},
                flags, *github);
}

}  // namespace trilobite::cli
