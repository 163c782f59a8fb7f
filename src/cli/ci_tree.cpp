#include "cli/ci_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/stop_signal.hpp"
#include "measure/run_program.hpp"
#include "notify/channels.hpp"

namespace trilobite::cli {
namespace {

constexpr auto kGitTimeout = std::chrono::minutes(10);

Result<FinishedProgram> git(std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  auto done = run_program(words, kGitTimeout);
  if (!done) return fail(done.error().message(), ErrorKind::environment);
  return done;
}

/// What git printed, on one line: it ends in a message or is a name.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

bool is_installed(const std::string& program) {
  const auto found = run_program({"/bin/sh", "-c", "command -v \"$1\" >/dev/null", "sh", program},
                                 std::chrono::seconds(10));
  return found && found->status == 0;
}

}  // namespace

Result<Path> repository_root() {
  const auto root = git({"rev-parse", "--show-toplevel"});
  if (!root) return fail_from(root);
  if (root->status != 0 || root->output.size() < 2)
    return fail("this folder is not in the working tree of a git repository");
  return Path(root->output.substr(0, root->output.size() - 1));
}

Result<Revision> find_revision(const Path& repository, const std::string& name) {
  const auto commit = git({"-C", repository.string(), "rev-parse", "--verify", "--quiet",
                           "--end-of-options", name + "^{commit}"});
  if (!commit) return fail_from(commit);
  Revision revision{.name = name, .commit = one_line(commit->output), .subject = ""};
  if (commit->status != 0 || revision.commit.size() < 40)
    return fail(fmt::format("'{}' is no revision of {} (a shallow clone has the latest only)",
                            one_line(name), repository.string()));
  const auto subject =
      git({"-C", repository.string(), "log", "-1", "--format=%s", revision.commit, "--"});
  if (subject && subject->status == 0) revision.subject = one_line(subject->output);
  return revision;
}

Result<void> check_nothing_uncommitted(const Path& repository) {
  const auto changes =
      git({"-C", repository.string(), "status", "--porcelain", "--untracked-files=no"});
  if (!changes) return fail_from(changes);
  if (changes->status != 0)
    return fail(fmt::format("git status failed: {}", one_line(changes->errors)));
  if (!changes->output.empty())
    return fail(
        "the working tree has changes that are not committed and would not be measured; commit "
        "them, or say --head HEAD to leave them out");
  return {};
}

Result<Worktree> Worktree::add(const Path& repository, const Revision& revision,
                               const Path& folder) {
  std::error_code code;
  if (std::filesystem::exists(folder, code))
    return fail(
        fmt::format("{} exists already; remove it or choose another --work", folder.string()));
  const auto done = git({"-C", repository.string(), "worktree", "add", "--detach", "--quiet",
                         folder.string(), revision.commit});
  if (!done) return fail_from(done);
  // Owned even when git failed halfway, so that nothing is left behind.
  Worktree tree(repository, folder);
  if (done->status != 0)
    return fail(fmt::format("git cannot check out {} in {}: {}", one_line(revision.name),
                            folder.string(), one_line(done->errors)),
                ErrorKind::environment);
  return tree;
}

Worktree::Worktree(Worktree&& other) noexcept
    : repository_(std::move(other.repository_)), path_(std::exchange(other.path_, Path())) {}

Worktree::~Worktree() {
  if (path_.empty()) return;
  (void)git({"-C", repository_.string(), "worktree", "remove", "--force", path_.string()});
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  (void)git({"-C", repository_.string(), "worktree", "prune"});
}

Result<std::string> default_build_command() {
  if (!is_installed("cmake"))
    return fail("cmake is not installed; --build-command can name another way to build",
                ErrorKind::environment);
  const auto* launcher = is_installed("ccache") ? " -DCMAKE_C_COMPILER_LAUNCHER=ccache "
                                                  "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
                                                : "";
  return fmt::format(
      "if cmake --list-presets 2>/dev/null | grep -q '\"run\"'; then cmake --preset run{0}; else "
      "cmake -S . -B build/run -DCMAKE_BUILD_TYPE=Release{0}; fi && cmake --build build/run "
      "--parallel {1}",
      launcher, std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

Result<void> check_program_path(const std::string& program) {
  const auto path = Path(program).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == ".." || path.filename().empty())
    return fail(fmt::format("--program '{}' is not the path of a file inside the tree", program));
  return {};
}

Result<Path> build_tree(const Worktree& tree, const BuildPlan& plan, const Path& log) {
  // Compilations are shared between the trees: ccache sees paths relative to each.
  constexpr const char* kScript =
      "exec </dev/null >\"$3\" 2>&1; cd \"$1\" || exit; export CCACHE_BASEDIR=\"$1\" "
      "CCACHE_NOHASHDIR=1; exec /bin/sh -c \"$2\"";
  const auto built = notify::run_command({"/bin/sh", "-c", kScript, "sh", tree.path().string(),
                                          plan.command, std::filesystem::absolute(log).string()},
                                         "", plan.timeout, stop_requested);
  if (!built)
    return fail(
        fmt::format("the build failed ({}); its log is {}", built.error().message(), log.string()));
  const auto program = tree.path() / plan.program;
  if (::access(program.c_str(), X_OK) != 0)
    return fail(fmt::format("the build left no program {} in the tree; its log is {}", plan.program,
                            log.string()));
  return program;
}

}  // namespace trilobite::cli
