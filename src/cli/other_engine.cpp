#include "cli/other_engine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/json.hpp"
#include "cli/temporary_path.hpp"

namespace trilobite::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::array kGenerators{"llama-completion", "llama-cli", "main"};

bool is_program(const Path& path) {
  return std::filesystem::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

/// The last line that says something.
std::string last_words(const FinishedProgram& program) {
  auto text = program.errors.empty() ? program.output : program.errors;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  const auto start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

Result<FinishedProgram> run_well(const std::vector<std::string>& command,
                                 std::chrono::nanoseconds timeout) {
  auto done = run_program(command, timeout);
  if (!done) return done;
  if (done->status != 0) {
    return fail(
        fmt::format("{} ended with status {}: {}", command[0], done->status, last_words(*done)));
  }
  return done;
}

template <typename T>
Result<std::vector<T>> read_numbers(const Path& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  std::vector<T> values(text->size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), text->data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

Result<OtherEngine> OtherEngine::find(const Path& path) {
  Path program = path;
  if (std::filesystem::is_directory(path)) {
    for (const auto* name : kGenerators) {
      if (is_program(path / name)) {
        program = path / name;
        break;
      }
    }
  }
  if (!is_program(program)) {
    return fail(
        fmt::format("{} is no program that can be run; give the path of llama-completion, "
                    "llama-cli or a tool that takes the same flags",
                    path.string()));
  }
  OtherEngine engine(program);
  // Some builds end their help with status 1.
  const auto help = run_program({program.string(), "--help"}, 30s);
  if (!help) return fail_from(help);
  engine.help_ = help->output + help->errors;
  for (const auto* flag : {"--model", "--prompt", "--temp"}) {
    if (!engine.knows(flag)) {
      return fail(fmt::format("{} does not take llama.cpp's flags: its help has no {}",
                              program.string(), flag));
    }
  }
  return engine;
}

std::vector<std::string> OtherEngine::generate_command(const EngineRequest& request) const {
  std::vector<std::string> command{program_.string(),
                                   "-m",
                                   request.model.string(),
                                   "-p",
                                   request.prompt,
                                   "-n",
                                   std::to_string(request.tokens),
                                   "-t",
                                   std::to_string(request.threads),
                                   "--temp",
                                   "0"};
  for (const auto* flag : {"--no-conversation", "--no-display-prompt", "--simple-io", "--no-warmup",
                           "--ignore-eos", "--special"}) {
    if (knows(flag)) command.emplace_back(flag);
  }
  return command;
}

std::string OtherEngine::continuation(const std::string& output, const std::string& prompt) {
  std::string_view text = output;
  if (const auto at = text.find(prompt); at != std::string_view::npos && at < 64)
    text.remove_prefix(at + prompt.size());
  if (const auto end = text.rfind("[end of text]"); end != std::string_view::npos)
    text = text.substr(0, end);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text);
}

std::optional<Path> OtherEngine::sibling(const std::string& name) const {
  auto path = program_.parent_path() / name;
  return is_program(path) ? std::optional(std::move(path)) : std::nullopt;
}

Result<OtherLogits> OtherEngine::logits(const EngineRequest& request) const {
  const auto tool = sibling("llama-debug");
  if (!tool)
    return fail("there is no llama-debug beside it, which writes logits", ErrorKind::environment);
  const TemporaryPath folder;
  const auto done = run_well({tool->string(), "-m", request.model.string(), "-p", request.prompt,
                              "-t", std::to_string(request.threads), "--save-logits",
                              "--logits-output-dir", folder.path().string()},
                             request.timeout);
  if (!done) return fail_from(done);
  const auto base = "llamacpp-" + request.model.stem().string();
  auto logits = read_numbers<float>(folder.path() / (base + ".bin"));
  if (!logits) return fail_from(logits);
  auto ids = read_numbers<int32_t>(folder.path() / (base + "-tokens.bin"));
  if (!ids) return fail_from(ids);
  return OtherLogits{*std::move(ids), *std::move(logits)};
}

Result<OtherSpeed> OtherEngine::speed(const EngineRequest& request, size_t prompt_tokens) const {
  const auto tool = sibling("llama-bench");
  if (!tool)
    return fail("there is no llama-bench beside it, which measures", ErrorKind::environment);
  const auto done = run_well({tool->string(), "-m", request.model.string(), "-p",
                              std::to_string(prompt_tokens), "-n", std::to_string(request.tokens),
                              "-t", std::to_string(request.threads), "-r", "1", "-o", "json"},
                             request.timeout);
  if (!done) return fail_from(done);
  const auto start = done->output.find('[');
  const auto json =
      parse_json(start == std::string::npos ? done->output : done->output.substr(start));
  if (!json) return fail_from(json, tool->string());
  OtherSpeed speed;
  for (const auto& test : *json) {
    const double rate = test.value("avg_ts", 0.0);
    (test.value("n_gen", 0) > 0 ? speed.decode : speed.prefill) = rate;
  }
  if (!(speed.prefill > 0) || !(speed.decode > 0))
    return fail(fmt::format("{} gave no speeds", tool->string()));
  return speed;
}

}  // namespace trilobite::cli
