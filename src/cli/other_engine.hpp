#pragma once
// Another engine's command-line tools: llama.cpp's and those of its relatives. Which flags a build
// knows is read from its own help; nothing of it is linked.

#include <chrono>
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

class OtherEngine {
 public:
  /// `path` is the tool that generates text (llama-cli, llama-completion, main) or a folder that
  /// holds one. Its siblings llama-bench and llama-debug are used when they are there.
  static Result<OtherEngine> find(const Path& path);

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
