#include "model/perplexity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/file.hpp"
#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/subcommands.hpp"
#include "report/display_text.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

struct Source {
  std::string name;  // for people
  std::string text;
};

/// A name that was mistyped would otherwise be judged as a text.
bool looks_like_a_path(std::string_view text) {
  return text.find_first_of(" \t\r\n") == std::string_view::npos &&
         (text.find('/') != std::string_view::npos || text.ends_with(".txt"));
}

/// The text itself, or the content of the file that it names.
Result<Source> text_or_file(const std::string& argument) {
  std::error_code ignored;
  const auto status = std::filesystem::status(argument, ignored);
  if (std::filesystem::is_directory(status))
    return fail(fmt::format("{} is a folder; give a file or a text", argument));
  if (std::filesystem::exists(status)) {
    auto text = read_file(argument);
    if (!text) return fail_from(text);
    return Source{fmt::format("file {}", argument), *std::move(text)};
  }
  if (looks_like_a_path(argument))
    return fail(
        fmt::format("there is no file {}; a text with a blank in it is never taken for a "
                    "file's name",
                    argument));
  return Source{"text of the argument", argument};
}

struct Judged {
  model::Perplexity perplexity;
  size_t context = 0;
};

Result<Judged> judge(const ModelOptions& options, const std::string& text, size_t max_tokens) {
  auto engine = load_engine(options);
  if (!engine) return fail_from(engine);
  const auto tokenizer = load_tokenizer(engine->file().contents());
  if (!tokenizer) return fail_from(tokenizer);
  auto ids = tokenizer->encode(text, {.parse_special = false});
  if (max_tokens != 0 && ids.size() > max_tokens) ids.resize(max_tokens);
  const auto result = model::perplexity(*engine, ids, tokenizer->special().bos);
  if (!result) return fail_from(result);
  for (const double figure : {result->perplexity, result->low, result->high, result->mean_nll}) {
    if (!std::isfinite(figure))
      return fail(
          fmt::format("the perplexity of this text is not a finite number ({}); the model's "
                      "weights may be damaged",
                      figure));
  }
  return Judged{*result, engine->context()};
}

std::string to_text(const Judged& judged, const Source& source) {
  const auto& result = judged.perplexity;
  return fmt::format(
      "perplexity {:.4f}, 95 % between {:.4f} and {:.4f} ({} tokens predicted, context {}) of the "
      "{}\n",
      result.perplexity, result.low, result.high, result.predicted, judged.context,
      printable(source.name));
}

std::string to_json_text(const Judged& judged, const Source& source) {
  const auto& result = judged.perplexity;
  return json_line({{"perplexity", result.perplexity},
                    {"low", result.low},
                    {"high", result.high},
                    {"nll", result.mean_nll},
                    {"tokens", result.predicted},
                    {"context", judged.context},
                    {"source", source.name}}) +
         "\n";
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
  app.add_option("--max-tokens", max_tokens, "read no more than this many tokens; 0: all")
      ->check(CLI::Range(0, 1 << 30));
  app.add_flag("--json", json);
  if (const auto over = parse(app, arguments)) return *over;
  const auto source = text_or_file(argument);
  if (!source) return report_error(source.error());
  const auto judged = judge(options, source->text, max_tokens);
  if (!judged) return report_error(judged.error());
  const auto printed = print(json ? to_json_text(*judged, *source) : to_text(*judged, *source));
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
