#pragma once
// Revisions of a git repository, checked out and built beside each other for `ci`.

#include <chrono>
#include <string>

#include "base/file.hpp"
#include "report/ci_report.hpp"

namespace trilobite::cli {

/// The root of the repository that this folder is in.
Result<Path> repository_root();
Result<Revision> find_revision(const Path& repository, const std::string& name);
/// Fails when tracked files differ from HEAD: a run on HEAD would not measure what one sees.
Result<void> check_nothing_uncommitted(const Path& repository);

/// A checked-out revision that is gone again, and forgotten by git, when its owner is.
class Worktree {
 public:
  static Result<Worktree> add(const Path& repository, const Revision& revision, const Path& folder);
  ~Worktree();
  Worktree(Worktree&& other) noexcept;
  Worktree& operator=(Worktree&&) = delete;
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  const Path& path() const { return path_; }

 private:
  Worktree(Path repository, Path path)
      : repository_(std::move(repository)), path_(std::move(path)) {}
  Path repository_;
  Path path_;  // empty: moved from
};

struct BuildPlan {
  std::string command;  // for /bin/sh, run in the tree
  std::string program;  // what it must leave there
  std::chrono::nanoseconds timeout = std::chrono::hours(1);
};

/// CMake in build/run: with the preset `run` where the tree has it, else as Release. Fails
/// (environment) when the machine has no cmake.
Result<std::string> default_build_command();
/// The relative path of a program inside of a tree, or why it is none.
Result<void> check_program_path(const std::string& program);

/// Builds; what that prints goes to `log`, which every error names. Returns the program.
Result<Path> build_tree(const Worktree& tree, const BuildPlan& plan, const Path& log);

}  // namespace trilobite::cli
