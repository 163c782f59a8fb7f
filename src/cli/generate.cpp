#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/stop_signal.hpp"
#include "cli/subcommands.hpp"
#include "measure/clock.hpp"
#include "model/stop_texts.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

constexpr int kLargestCount = 1 << 24;
// Half of what int64 holds: longer numbers are read as its largest.
constexpr int64_t kLargestSeed = int64_t{1} << 62;

struct GenerateFlags {
  ModelOptions model;
  std::string prompt;
  std::string ids;
  size_t tokens = 32;
  bool greedy = false;
  bool json = false;
  bool ignore_end = false;
  bool with_special = false;
  std::vector<std::string> stops;
  std::vector<int32_t> stop_ids;
  model::SamplerOptions sampler{.temperature = 0.8f, .top_k = 40, .top_p = 0.95f};
};

void add_flags(CLI::App& app, GenerateFlags& flags) {
  add_model_options(app, flags.model);
  app.add_option("-p,--prompt", flags.prompt, "the text to continue");
  app.add_option("--ids", flags.ids, "the prompt as token ids, 1,2,3 (instead of --prompt)")
      ->excludes("--prompt");
  app.add_option("-n,--tokens", flags.tokens, "how many tokens to generate")
      ->check(CLI::Range(0, kLargestCount));
  app.add_flag("--greedy", flags.greedy, "always the likeliest token");
  app.add_option("--temperature", flags.sampler.temperature, "0: greedy");
  app.add_option("--top-k", flags.sampler.top_k, "draw from the k likeliest tokens; 0: all")
      ->check(CLI::Range(0, kLargestCount));
  app.add_option("--top-p", flags.sampler.top_p, "and of those that together have probability p");
  app.add_option("--min-p", flags.sampler.min_p, "and at least p times as likely as the likeliest");
  app.add_option("--repetition-penalty,--repeat-penalty", flags.sampler.repetition_penalty,
                 "above 1: what has just occurred becomes less likely");
  app.add_option("--repetition-window", flags.sampler.repetition_window,
                 "latest tokens that the penalty looks at")
      ->check(CLI::Range(0, kLargestCount));
  app.add_option("--seed", flags.sampler.seed, "the same seed gives the same text")
      ->check(CLI::Range(int64_t{0}, kLargestSeed));
  app.add_option("--stop", flags.stops, "end before this text; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--stop-id", flags.stop_ids,
                 "end before this token id; may be given several times")
      ->allow_extra_args(false)
      ->check(CLI::Range(0, INT32_MAX));
  app.add_flag("--ignore-end", flags.ignore_end, "go on after an end-of-text token");
  app.add_flag("--special", flags.with_special, "show special tokens in the text");
  app.add_flag("--json", flags.json, "ids, text and times as JSON instead of the text alone");
}

/// In ns. `first_token` is 0 when there was none; `prompt_read` then when the end was chosen.
struct Times {
  int64_t start = 0;
  int64_t prompt_read = 0;
  int64_t first_token = 0;
  int64_t end = 0;
};

struct Outcome {
  model::Generation generation;
  std::string stop_reason;
  std::string text;
  Times times;
};

Json milliseconds(int64_t from, int64_t to) {
  return to == 0 ? Json() : Json(static_cast<double>(to - from) / 1e6);
}

Json per_second(size_t count, int64_t ns) {
  return ns > 0 && count > 0 ? Json(static_cast<double>(count) * 1e9 / static_cast<double>(ns))
                             : Json();
}

Json decode_rate(const Outcome& outcome) {
  const auto& times = outcome.times;
  return times.first_token == 0
             ? Json()
             : per_second(outcome.generation.tokens.size() - 1, times.end - times.first_token);
}

Json to_json(const Outcome& outcome, size_t prompt_tokens) {
  const auto& times = outcome.times;
  return {{"prompt_tokens", prompt_tokens},
          {"tokens", outcome.generation.tokens},
          {"stop_reason", outcome.stop_reason},
          {"first_token_ms", milliseconds(times.start, times.first_token)},
          {"prefill_tokens_per_second", per_second(prompt_tokens, times.prompt_read - times.start)},
          {"decode_tokens_per_second", decode_rate(outcome)}};
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

/// The text as it comes: shown at once unless JSON is wanted, cut before the first stop text.
class Transcript {
 public:
  Transcript(const GenerateFlags& flags, const Tokenizer* tokenizer,
             std::span<const int32_t> prompt)
      : flags_(flags), stops_(flags.stops) {
    if (tokenizer == nullptr) return;
    decoder_.emplace(*tokenizer, DecodeOptions{.special_tokens = flags.with_special});
    decoder_->continue_after(prompt);
  }

  /// False when nothing should follow.
  bool push(int32_t token) {
    add(stops_.push(decoder_ ? std::string(decoder_->push(token)) : fmt::format("{} ", token)));
    return printed_.has_value() && !stops_.stopped() && !stop_requested();
  }
  Result<void> finish() {
    if (decoder_ && !stops_.stopped()) add(stops_.push(decoder_->finish()));
    add(stops_.finish());
    show("\n");
    return printed_;
  }
  bool found_stop() const { return stops_.stopped(); }
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view more) {
    if (!began_) show(flags_.prompt);
    began_ = true;
    show(more);
    text_ += more;
  }
  void show(std::string_view text) {
    if (!flags_.json && printed_) printed_ = print(text);
  }

  const GenerateFlags& flags_;
  std::optional<StreamDecoder> decoder_;
  model::StopTexts stops_;
  std::string text_;
  bool began_ = false;
  Result<void> printed_;
};

model::GenerateOptions options_of(const GenerateFlags& flags) {
  model::GenerateOptions options{.tokens = flags.tokens,
                                 .sampler = flags.sampler,
                                 .stop_tokens = flags.stop_ids,
                                 .ignore_end = flags.ignore_end};
  if (flags.greedy) options.sampler.temperature = 0;
  return options;
}

Result<Outcome> generate(model::Engine& engine, const GenerateFlags& flags,
                         std::span<const int32_t> prompt, const Tokenizer* tokenizer) {
  SteadyClock clock;
  Transcript transcript(flags, tokenizer, prompt);
  Outcome outcome;
  auto& times = outcome.times;
  auto options = options_of(flags);
  options.on_token = [&](int32_t token) {
    times.end = clock.now_ns();
    if (times.first_token == 0) times.first_token = times.prompt_read = times.end;
    return transcript.push(token);
  };
  times.start = clock.now_ns();
  auto generation = engine.generate(prompt, options);
  if (!generation) return fail_from(generation);
  // Nothing was read for no tokens at all.
  if (times.first_token == 0 && flags.tokens > 0) times.prompt_read = clock.now_ns();
  if (const auto shown = transcript.finish(); !shown) return fail_from(shown);
  outcome.generation = *std::move(generation);
  outcome.stop_reason = transcript.found_stop() ? "stop_text" : name_of(outcome.generation.stopped);
  outcome.text = transcript.text();
  return outcome;
}

Result<void> check_stops(const GenerateFlags& flags, const model::Engine& engine,
                         const Result<Tokenizer>& tokenizer) {
  for (const auto id : flags.stop_ids) {
    if (static_cast<size_t>(id) >= engine.config().vocabulary)
      return fail(fmt::format("--stop-id: there is no token {}", id));
  }
  if (std::ranges::find(flags.stops, "") != flags.stops.end())
    return fail("--stop: an empty text is everywhere");
  if (!flags.stops.empty() && !tokenizer) return fail_from(tokenizer, "--stop");
  return {};
}

/// What the text itself does not say, on standard error.
void say_more(const Outcome& outcome, size_t prompt_tokens, size_t context) {
  const auto& times = outcome.times;
  if (outcome.stop_reason == model::name_of(model::StopReason::context_full))
    fmt::print(stderr, "trilobite: the text ends here because the context of {} tokens is full\n",
               context);
  if (!stderr_is_terminal() || times.first_token == 0) return;
  const auto rate = decode_rate(outcome);
  fmt::print(stderr, "{} tokens in the prompt, first token after {:.0f} ms{}\n", prompt_tokens,
             static_cast<double>(times.first_token - times.start) / 1e6,
             rate.is_null() ? "" : fmt::format(", then {:.1f} tokens/s", rate.get<double>()));
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
  if (const auto right = check_stops(flags, *engine, tokenizer); !right)
    return report_error(right.error());
  catch_stop_signals();
  const auto outcome = generate(*engine, flags, *prompt, tokenizer ? &*tokenizer : nullptr);
  if (!outcome) return report_error(outcome.error());
  if (flags.json) {
    auto json = to_json(*outcome, prompt->size());
    if (tokenizer) json["text"] = outcome->text;
    if (const auto printed = print(json_document(json)); !printed)
      return report_error(printed.error());
  } else {
    say_more(*outcome, prompt->size(), engine->context());
  }
  return stop_requested() ? kInterrupted : kFine;
}

}  // namespace trilobite::cli
