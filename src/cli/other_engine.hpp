#pragma once
// Another engine's command-line tools: llama.cpp's and those of its relatives. Which flags a build
// knows is read from its own help; nothing of it is linked.

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "measure/run_program.hpp"

namespace trilobite::cli {

struct EngineRequest {
  Path model;
  std::string prompt;
  size_t tokens = 32;
  unsigned threads = 1;
  std::chrono::nanoseconds timeout{};
};

struct OtherLogits {
  std::vector<int32_t> ids;   // of the prompt, as the engine tokenised it
  std::vector<float> logits;  // after its last token
};

/// Tokens per second.
struct OtherSpeed {
  double prefill = 0;
  double decode = 0;
};

/// Runs a program that should end with status 0. Otherwise, and when it does not end in time, the
/// error says so, and the last line that it wrote.
Result<FinishedProgram> run_well(const std::vector<std::string>& command,
                                 std::chrono::nanoseconds timeout);

/// A file of plain little-endian numbers.
template <typename T>
Result<std::vector<T>> read_numbers(const Path& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  std::vector<T> values(text->size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), text->data(), values.size() * sizeof(T));
  return values;
}

class OtherEngine {
 public:
  /// `path` is the tool that generates text (llama-cli, llama-completion, main) or a folder that
  /// holds one. Its siblings llama-bench and llama-debug are used when they are there.
  static Result<OtherEngine> find(const Path& path);
  /// Reads which flags the tool knows from what it says to --help. An error when it has not those
  /// that everything here needs.
  Result<void> learn_flags(std::string help);

  /// Absolute.
  const Path& program() const { return program_; }
  /// The words that make it continue a prompt greedily.
  std::vector<std::string> generate_command(const EngineRequest& request) const;
  /// What it wrote after the prompt, without the mark of an end.
  static std::string continuation(const std::string& output, const std::string& prompt);

  /// Errors say why it cannot tell (environment) or what went wrong.
  Result<OtherLogits> logits(const EngineRequest& request) const;
  Result<OtherSpeed> speed(const EngineRequest& request, size_t prompt_tokens) const;

 private:
  explicit OtherEngine(Path program) : program_(std::move(program)) {}
  bool knows(std::string_view flag) const { return help_.find(flag) != std::string::npos; }
  std::optional<Path> sibling(const std::string& name) const;
  Path program_;
  std::string help_;
};

}  // namespace trilobite::cli
