#include "cli/other_engine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/json.hpp"
#include "cli/temporary_path.hpp"
#include "report/display_text.hpp"

namespace trilobite::cli {
namespace {

constexpr std::array kGenerators{"llama-completion", "llama-cli", "main"};

bool is_program(const Path& path) {
  return std::filesystem::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

/// The last line of a text that is more than blanks.
std::string last_line(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const auto end = text.find_last_not_of(kBlanks);
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

/// What a program that failed has said in the end: on standard error, else on standard output.
std::string last_words(const FinishedProgram& program) {
  constexpr size_t kColumns = 200;
  auto words = last_line(program.errors);
  if (words.empty()) words = last_line(program.output);
  if (words.empty()) return "and printed nothing";
  return "and said: " + shortened_at_the_end(printable(words), kColumns);
}

/// A member that is a number; nothing in JSON of any other shape.
std::optional<double> number_in(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto member = json.find(key);
  return member != json.end() && member->is_number() ? std::optional(member->get<double>())
                                                     : std::nullopt;
}

}  // namespace

Result<FinishedProgram> run_well(const std::vector<std::string>& command,
                                 std::chrono::nanoseconds timeout) {
  auto done = run_program(command, timeout);
  if (!done || done->status == 0) return done;
  return fail(
      fmt::format("{} ended with status {} {}", command[0], done->status, last_words(*done)));
}

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
  // A name alone would be looked for on PATH.
  return OtherEngine(std::filesystem::absolute(program));
}

Result<void> OtherEngine::learn_flags(std::string help) {
  help_ = std::move(help);
  for (const auto* flag : {"--model", "--prompt", "--temp"}) {
    if (!knows(flag)) {
      return fail(fmt::format("{} does not take llama.cpp's flags: its help has no {}",
                              program_.string(), flag));
    }
  }
  return {};
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
    const auto rate = number_in(test, "avg_ts");
    const auto generated = number_in(test, "n_gen");
    if (!rate || !generated) continue;
    (*generated > 0 ? speed.decode : speed.prefill) = *rate;
  }
  if (!(speed.prefill > 0) || !(speed.decode > 0))
    return fail(fmt::format("{} printed JSON without the speeds of both tests", tool->string()));
  return speed;
}

}  // namespace trilobite::cli
