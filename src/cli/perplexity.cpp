#include "model/perplexity.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/subcommands.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

/// The text itself, or the content of the file that it names.
Result<std::string> text_or_file(const std::string& argument) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(argument, ignored)) return read_file(argument);
  return argument;
}

}  // namespace

int run_perplexity(const Arguments& arguments) {
  CLI::App app("How well a model predicts a text", "perplexity");
  ModelOptions options;
  std::string argument;
  size_t max_tokens = 0;
  bool json = false;
  add_model_options(app, options);
  app.add_option("TEXT", argument, "a text, or the name of a file that holds it")->required();
  app.add_option("--max-tokens", max_tokens, "read no more than this many tokens; 0: all");
  app.add_flag("--json", json);
  if (const auto over = parse(app, arguments)) return *over;
  const auto text = text_or_file(argument);
  if (!text) return report_error(text.error());
  auto engine = load_engine(options);
  if (!engine) return report_error(engine.error());
  const auto tokenizer = load_tokenizer(engine->file().contents());
  if (!tokenizer) return report_error(tokenizer.error());
  auto ids = tokenizer->encode(*text, {.parse_special = false});
  if (max_tokens != 0 && ids.size() > max_tokens) ids.resize(max_tokens);
  const auto result = model::perplexity(*engine, ids, tokenizer->special().bos);
  if (!result) return report_error(result.error());
  const auto shown =
      json ? fmt::format(
                 "{{\"perplexity\": {}, \"low\": {}, \"high\": {}, \"nll\": {}, "
                 "\"tokens\": {}, \"context\": {}}}\n",
                 result->perplexity, result->low, result->high, result->mean_nll, result->predicted,
                 engine->context())
           : fmt::format(
                 "perplexity {:.4f}, 95 % between {:.4f} and {:.4f} ({} tokens predicted, "
                 "context {})\n",
                 result->perplexity, result->low, result->high, result->predicted,
                 engine->context());
  const auto printed = print(shown);
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
