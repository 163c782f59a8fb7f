#include <fmt/format.h>

#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/stop_signal.hpp"
#include "cli/subcommands.hpp"
#include "measure/clock.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

struct GenerateFlags {
  ModelOptions model;
  std::string prompt;
  std::string ids;
  size_t tokens = 32;
  bool greedy = false;
  bool json = false;
  bool ignore_end = false;
  bool with_special = false;
  model::SamplerOptions sampler{.temperature = 0.8f, .top_k = 40, .top_p = 0.95f};
};

void add_flags(CLI::App& app, GenerateFlags& flags) {
  add_model_options(app, flags.model);
  app.add_option("-p,--prompt", flags.prompt, "the text to continue");
  app.add_option("--ids", flags.ids, "the prompt as token ids, 1,2,3 (instead of --prompt)")
      ->excludes("--prompt");
  app.add_option("-n,--tokens", flags.tokens, "how many tokens to generate")
      ->check(CLI::Range(0, 1 << 24));
  app.add_flag("--greedy", flags.greedy, "always the likeliest token");
  app.add_option("--temperature", flags.sampler.temperature, "0: greedy");
  app.add_option("--top-k", flags.sampler.top_k, "draw from the k likeliest tokens; 0: all");
  app.add_option("--top-p", flags.sampler.top_p, "and of those that together have probability p");
  app.add_option("--min-p", flags.sampler.min_p, "and at least p times as likely as the likeliest");
  app.add_option("--repetition-penalty,--repeat-penalty", flags.sampler.repetition_penalty,
                 "above 1: what has just occurred becomes less likely");
  app.add_option("--repetition-window", flags.sampler.repetition_window,
                 "latest tokens that the penalty looks at");
  app.add_option("--seed", flags.sampler.seed, "the same seed gives the same text");
  app.add_flag("--ignore-end", flags.ignore_end, "go on after an end-of-text token");
  app.add_flag("--special", flags.with_special, "show special tokens in the text");
  app.add_flag("--json", flags.json, "ids, text and times as JSON instead of the text alone");
}

/// When the prompt had been read and when the last token was there.
struct Times {
  int64_t start = 0;
  int64_t first_token = 0;
  int64_t end = 0;
};

double per_second(size_t count, int64_t ns) {
  return ns > 0 ? static_cast<double>(count) * 1e9 / static_cast<double>(ns) : 0.0;
}

double decode_rate(const model::Generation& generation, const Times& times) {
  if (generation.tokens.size() < 2) return 0.0;
  return per_second(generation.tokens.size() - 1, times.end - times.first_token);
}

Json to_json(const model::Generation& generation, size_t prompt_tokens, const Times& times) {
  Json json;
  json["prompt_tokens"] = prompt_tokens;
  json["tokens"] = generation.tokens;
  json["stopped"] = model::name_of(generation.stopped);
  json["first_token_ms"] =
      number_or_null(static_cast<double>(times.first_token - times.start) / 1e6);
  json["prefill_tokens_per_second"] =
      number_or_null(per_second(prompt_tokens, times.first_token - times.start));
  const double rate = decode_rate(generation, times);
  json["decode_tokens_per_second"] = rate > 0 ? Json(rate) : Json(nullptr);
  return json;
}

Result<std::vector<int32_t>> prompt_ids(const GenerateFlags& flags,
                                        const Result<Tokenizer>& tokenizer) {
  if (!flags.ids.empty()) return parse_ids(flags.ids);
  if (!tokenizer)
    return fail(tokenizer.error().message() + "; give the prompt as --ids", ErrorKind::input);
  auto ids = tokenizer->encode(flags.prompt);
  if (ids.empty())
    return fail("the prompt is empty, and the model has no token that begins a text");
  return ids;
}

/// Generates, showing the text as it comes unless JSON is wanted.
Result<model::Generation> generate_showing(model::Engine& engine, const GenerateFlags& flags,
                                           std::span<const int32_t> prompt,
                                           const Tokenizer* tokenizer, Times& times) {
  SteadyClock clock;
  std::optional<StreamDecoder> stream;
  if (tokenizer != nullptr) {
    stream.emplace(*tokenizer, DecodeOptions{.special_tokens = flags.with_special});
    stream->continue_after(prompt);
  }
  Result<void> printed;
  const auto show = [&](std::string_view text) {
    if (!flags.json && printed) printed = print(text);
  };
  model::GenerateOptions options{
      .tokens = flags.tokens, .sampler = flags.sampler, .ignore_end = flags.ignore_end};
  if (flags.greedy) options.sampler.temperature = 0;
  options.on_token = [&](int32_t token) {
    times.end = clock.now_ns();
    if (times.first_token == 0) {
      times.first_token = times.end;
      show(flags.prompt);
    }
    show(stream ? std::string(stream->push(token)) : fmt::format("{} ", token));
    return printed.has_value() && !stop_requested();
  };
  times.start = clock.now_ns();
  auto generation = engine.generate(prompt, options);
  if (!generation) return generation;
  if (stream) show(stream->finish());
  show("\n");
  if (!printed) return fail_from(printed);
  return generation;
}

}  // namespace

int run_generate(const Arguments& arguments) {
  CLI::App app("Continues a text", "generate");
  GenerateFlags flags;
  add_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  auto engine = load_engine(flags.model);
  if (!engine) return report_error(engine.error());
  const auto tokenizer = load_tokenizer(engine->file().contents());
  const auto prompt = prompt_ids(flags, tokenizer);
  if (!prompt) return report_error(prompt.error());
  catch_stop_signals();
  Times times;
  const auto generation =
      generate_showing(*engine, flags, *prompt, tokenizer ? &*tokenizer : nullptr, times);
  if (!generation) return report_error(generation.error());
  if (flags.json) {
    auto json = to_json(*generation, prompt->size(), times);
    if (tokenizer)
      json["text"] = tokenizer->decode_after(*prompt, generation->tokens,
                                             {.special_tokens = flags.with_special});
    if (const auto printed = print(json.dump(2) + "\n"); !printed)
      return report_error(printed.error());
  } else if (stderr_is_terminal()) {
    fmt::print(stderr,
               "{} tokens in the prompt, first token after {:.0f} ms, then {:.1f} tokens/s\n",
               prompt->size(), static_cast<double>(times.first_token - times.start) / 1e6,
               decode_rate(*generation, times));
  }
  return generation->stopped == model::StopReason::cancelled ? kInterrupted : kFine;
}

}  // namespace trilobite::cli
