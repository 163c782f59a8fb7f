#include "cli/crossval_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/thread_pool.hpp"
#include "cli/other_engine.hpp"
#include "cli/temporary_path.hpp"
#include "harness/child_process.hpp"
#include "measure/clock.hpp"
#include "quant/error_measures.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

constexpr std::chrono::seconds kHelpTimeout{30};

/// This program, for running it on the other side of the comparison.
std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

double per_second(size_t count, int64_t ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(std::max<int64_t>(1, ns));
}

/// Prompt and decoding speed of our engine in this process, after one prompt to warm up.
Result<std::pair<double, double>> measure_speed(const CrossvalPlan& plan) {
  auto options = engine_options(plan.model);
  if (!options) return fail_from(options);
  if (options->context == 0) options->context = std::max(plan.prompt_tokens, plan.tokens + 1);
  auto engine = model::Engine::load(plan.model.file, *options);
  if (!engine) return fail_from(engine);
  std::vector<int32_t> prompt(plan.prompt_tokens);
  for (size_t i = 0; i < prompt.size(); ++i)
    prompt[i] = static_cast<int32_t>(i * 7 % engine->config().vocabulary);
  SteadyClock clock;
  const model::Feed feed{0, prompt};
  int64_t prefill_ns = 0;
  for (int round = 0; round < 2; ++round) {
    engine->truncate(0);
    const auto start = clock.now_ns();
    if (auto done = engine->feed({&feed, 1}); !done) return fail_from(done);
    prefill_ns = clock.now_ns() - start;
  }
  engine->truncate(0, 0);
  int32_t token = prompt.front();
  int64_t start = 0;
  for (size_t i = 0; i <= plan.tokens; ++i) {
    const model::Feed next{0, {&token, 1}};
    if (auto done = engine->feed({&next, 1}); !done) return fail_from(done);
    const auto chosen = model::greedy_token(engine->logits(0));
    if (!chosen) return fail_from(chosen);
    token = *chosen;
    if (i == 0) start = clock.now_ns();
  }
  return std::pair(per_second(plan.prompt_tokens, prefill_ns),
                   per_second(plan.tokens, clock.now_ns() - start));
}

class Crossval {
 public:
  Crossval(const CrossvalPlan& plan, OtherEngine other)
      : plan_(plan),
        other_(std::move(other)),
        request_{.model = plan.model.file,
                 .prompt = plan.prompt,
                 .tokens = plan.tokens,
                 .threads = plan.model.threads != 0 ? plan.model.threads : usable_cpus(),
                 .timeout = plan.timeout} {}

  Result<CrossvalResult> run() {
    result_.engine = other_.program().string();
    if (auto done = run_parts(); !done && result_.engine_failed.empty()) return fail_from(done);
    return std::move(result_);
  }

 private:
  Result<void> run_parts() {
    if (auto done = ask_for_flags(); !done) return done;
    if (auto done = compare_texts(); !done) return done;
    compare_logits();
    for (size_t i = 0; i < plan_.iterations; ++i) {
      // ABBA: neither side is always the one that finds the caches warm.
      auto done = i % 2 == 0 ? both(&Crossval::measure_ours, &Crossval::measure_theirs)
                             : both(&Crossval::measure_theirs, &Crossval::measure_ours);
      if (!done) return done;
    }
    return {};
  }

  using Part = Result<void> (Crossval::*)();
  Result<void> both(Part first, Part second) {
    if (auto done = (this->*first)(); !done) return done;
    return (this->*second)();
  }

  /// One of our commands on the model, with all of its flags.
  std::vector<std::string> our_command(const char* name,
                                       const std::vector<std::string>& more) const {
    auto options = plan_.model;
    options.threads = request_.threads;
    std::vector<std::string> words{own_program(), name};
    for (const auto& part : {words_of(options), more})
      words.insert(words.end(), part.begin(), part.end());
    return words;
  }

  std::vector<std::string> our_generate(size_t tokens) const {
    return our_command("generate", {"--prompt", plan_.prompt, "--tokens", std::to_string(tokens),
                                    "--greedy", "--ignore-end", "--special", "--json"});
  }

  /// Keeps how the other engine failed: that is no fault of the request.
  Result<FinishedProgram> run_theirs(const std::vector<std::string>& command) {
    auto done = run_well(command, plan_.timeout);
    if (!done) result_.engine_failed = done.error().message();
    return done;
  }

  Result<void> ask_for_flags() {
    // Some builds end their help with status 1.
    const auto help = run_program({result_.engine, "--help"},
                                  std::min<std::chrono::nanoseconds>(plan_.timeout, kHelpTimeout));
    if (help) return other_.learn_flags(help->output + help->errors);
    result_.engine_failed = help.error().message();
    return fail_from(help);
  }

  Result<Json> our_generation() {
    const auto done = run_program(our_generate(plan_.tokens), plan_.timeout);
    if (!done) return fail_from(done);
    if (done->status != 0) return fail(first_line(done->errors));
    return parse_json(done->output);
  }

  Result<void> compare_texts() {
    const auto json = our_generation();
    if (!json) return fail_from(json);
    result_.tokens = json->at("tokens").get<std::vector<int32_t>>();
    result_.text = json->value("text", "");
    const auto theirs = run_theirs(other_.generate_command(request_));
    if (!theirs) return fail_from(theirs);
    result_.other_text = OtherEngine::continuation(theirs->output, plan_.prompt);
    return count_agreeing();
  }

  /// How many of our tokens, written one behind the other, begin the other text.
  Result<void> count_agreeing() {
    const auto file = gguf::GgufFile::open(plan_.model.file);
    if (!file) return fail_from(file);
    const auto tokenizer = load_tokenizer(file->contents());
    if (!tokenizer) return fail_from(tokenizer);
    StreamDecoder stream(*tokenizer, DecodeOptions{.special_tokens = true});
    stream.continue_after(tokenizer->encode(plan_.prompt));
    std::string written;
    for (size_t i = 0; i < result_.tokens.size(); ++i) {
      const auto more = stream.push(result_.tokens[i]);
      written += more;
      if (!result_.other_text.starts_with(written)) {
        result_.other_ended = written.starts_with(result_.other_text);
        return {};
      }
      // A token that shows nothing yet, a part of a letter perhaps, agrees with those after it.
      if (!more.empty()) result_.agreeing_tokens = i + 1;
    }
    result_.agreeing_tokens = result_.tokens.size();
    return {};
  }

  void compare_logits() {
    const auto theirs = other_.logits(request_);
    const auto ours =
        theirs ? our_logits(theirs->ids) : Result<std::vector<float>>(fail_from(theirs));
    if (!ours) {
      result_.logits_unavailable = ours.error().message();
      return;
    }
    if (ours->size() != theirs->logits.size()) {
      result_.logits_unavailable = fmt::format("llama-debug wrote {} logits, ours are {}",
                                               theirs->logits.size(), ours->size());
      return;
    }
    result_.logits_unavailable.clear();
    const auto errors = quant::measure_error(theirs->logits, *ours);
    result_.cosine = errors.cosine;
    result_.max_error = errors.max_abs_error;
    const auto top = [](const std::vector<float>& row) {
      return std::ranges::max_element(row) - row.begin();
    };
    result_.same_top_token = top(*ours) == top(theirs->logits);
    result_.same_prompt_ids = theirs->ids == prompt_ids();
  }

  Result<std::vector<float>> our_logits(const std::vector<int32_t>& ids) const {
    const TemporaryPath folder;
    const auto file = folder.path() / "logits.bin";
    const auto done =
        run_program(our_command("logits", {"--ids", fmt::format("{}", fmt::join(ids, ",")),
                                           "--positions", "last", "--output", file.string()}),
                    plan_.timeout);
    if (!done) return fail_from(done, "ours");
    if (done->status != 0) return fail("ours: " + first_line(done->errors));
    return read_numbers<float>(file);
  }

  std::vector<int32_t> prompt_ids() const {
    const auto file = gguf::GgufFile::open(plan_.model.file);
    if (!file) return {};
    const auto tokenizer = load_tokenizer(file->contents());
    return tokenizer ? tokenizer->encode(plan_.prompt) : std::vector<int32_t>();
  }

  /// One process that generates everything gives its memory, one that stops after a token its time.
  static void keep(const FinishedProgram& whole, const FinishedProgram& first, SideFigures& side) {
    side.peak_mb.push_back(static_cast<double>(whole.peak_resident_bytes) / 1e6);
    side.first_token_ms.push_back(first.wall_ns / 1e6);
  }

  Result<void> measure_ours() {
    const auto whole = run_well(our_generate(plan_.tokens), plan_.timeout);
    if (!whole) return fail_from(whole);
    const auto first = run_well(our_generate(1), plan_.timeout);
    if (!first) return fail_from(first);
    keep(*whole, *first, result_.ours);
    // In a child, so that this process stays small: what it holds would count as theirs.
    const auto text = call_in_child(
        [&] {
          const auto speed = measure_speed(plan_);
          return speed ? fmt::format("[{},{}]", speed->first, speed->second)
                       : json_line(Json(speed.error().message()));
        },
        plan_.timeout);
    if (!text) return fail_from(text);
    const auto json = parse_json(*text);
    if (!json) return fail_from(json);
    if (json->is_string()) return fail(json->get<std::string>());
    result_.ours.prefill.push_back((*json)[0].get<double>());
    result_.ours.decode.push_back((*json)[1].get<double>());
    return {};
  }

  Result<void> measure_theirs() {
    auto single = request_;
    single.tokens = 1;
    const auto whole = run_theirs(other_.generate_command(request_));
    if (!whole) return fail_from(whole);
    const auto first = run_theirs(other_.generate_command(single));
    if (!first) return fail_from(first);
    keep(*whole, *first, result_.theirs);
    if (!result_.speed_unavailable.empty()) return {};
    const auto speed = other_.speed(request_, plan_.prompt_tokens);
    if (!speed) {
      result_.speed_unavailable = speed.error().message();
      return {};
    }
    result_.theirs.prefill.push_back(speed->prefill);
    result_.theirs.decode.push_back(speed->decode);
    return {};
  }

  const CrossvalPlan& plan_;
  OtherEngine other_;
  EngineRequest request_;
  CrossvalResult result_;
};

}  // namespace

Result<CrossvalResult> cross_validate(const CrossvalPlan& plan) {
  auto other = OtherEngine::find(plan.engine);
  if (!other) return fail_from(other);
  return Crossval(plan, *std::move(other)).run();
}

}  // namespace trilobite::cli
