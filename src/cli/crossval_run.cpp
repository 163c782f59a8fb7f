#include "cli/crossval_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

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

/// This program, for running it on the other side of the comparison.
std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

double per_second(size_t count, int64_t ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(std::max<int64_t>(1, ns));
}

/// Prompt and decoding speed of our engine in this process, after one prompt to warm up.
Result<std::pair<double, double>> measure_speed(const CrossvalPlan& plan) {
  auto options = engine_options(plan.model);
  if (!options) return fail_from(options);
  options->context = plan.prompt_tokens + plan.tokens + 1;
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
    if (auto done = compare_texts(); !done) return fail_from(done);
    compare_logits();
    for (size_t i = 0; i < plan_.iterations; ++i) {
      // ABBA: neither side is always the one that finds the caches warm.
      auto done = i % 2 == 0 ? both(&Crossval::measure_ours, &Crossval::measure_theirs)
                             : both(&Crossval::measure_theirs, &Crossval::measure_ours);
      if (!done) return fail_from(done);
    }
    return std::move(result_);
  }

 private:
  using Part = Result<void> (Crossval::*)();
  Result<void> both(Part first, Part second) {
    if (auto done = (this->*first)(); !done) return done;
    return (this->*second)();
  }

  std::vector<std::string> our_command(size_t tokens) const {
    return {own_program(), "generate",
            "-m",          plan_.model.file,
            "-p",          plan_.prompt,
            "-n",          std::to_string(tokens),
            "--threads",   std::to_string(request_.threads),
            "--greedy",    "--ignore-end",
            "--special",   "--json"};
  }

  Result<Json> our_generation() {
    const auto done = run_program(our_command(plan_.tokens), plan_.timeout);
    if (!done) return fail_from(done);
    if (done->status != 0) return fail(done->errors.substr(0, done->errors.find('\n')));
    return parse_json(done->output);
  }

  Result<void> compare_texts() {
    const auto json = our_generation();
    if (!json) return fail_from(json);
    result_.tokens = json->at("tokens").get<std::vector<int32_t>>();
    result_.text = json->value("text", "");
    const auto theirs = run_program(other_.generate_command(request_), plan_.timeout);
    if (!theirs) return fail_from(theirs);
    if (theirs->status != 0) {
      const auto& words = theirs->errors;
      return fail(fmt::format("{} ended with status {}: {}", result_.engine, theirs->status,
                              words.substr(words.size() - std::min<size_t>(words.size(), 200))));
    }
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
    std::string written;
    for (size_t i = 0; i < result_.tokens.size(); ++i) {
      const auto more = stream.push(result_.tokens[i]);
      written += more;
      if (!result_.other_text.starts_with(written)) return {};
      // A token that shows nothing yet, a part of a letter perhaps, agrees with those after it.
      if (!more.empty()) result_.agreeing_tokens = i + 1;
    }
    result_.agreeing_tokens = result_.tokens.size();
    return {};
  }

  void compare_logits() {
    const auto theirs = other_.logits(request_);
    if (!theirs) {
      result_.logits_unavailable = theirs.error().message();
      return;
    }
    const TemporaryPath folder;
    const auto file = (folder.path() / "logits.bin").string();
    const auto done =
        run_program({own_program(), "logits", "-m", plan_.model.file, "--ids",
                     fmt::format("{}", fmt::join(theirs->ids, ",")), "--positions", "last",
                     "--threads", std::to_string(request_.threads), "--output", file},
                    plan_.timeout);
    const auto text = read_file(file);
    if (!done || done->status != 0 || !text ||
        text->size() != theirs->logits.size() * sizeof(float)) {
      result_.logits_unavailable = done ? "ours: " + done->errors : done.error().message();
      return;
    }
    std::vector<float> ours(theirs->logits.size());
    std::memcpy(ours.data(), text->data(), text->size());
    const auto errors = quant::measure_error(theirs->logits, ours);
    result_.cosine = errors.cosine;
    result_.max_error = errors.max_abs_error;
    const auto top = [](const std::vector<float>& row) {
      return std::ranges::max_element(row) - row.begin();
    };
    result_.same_top_token = top(ours) == top(theirs->logits);
    result_.same_prompt_ids = theirs->ids == prompt_ids();
  }

  std::vector<int32_t> prompt_ids() const {
    const auto file = gguf::GgufFile::open(plan_.model.file);
    const auto tokenizer = load_tokenizer(file->contents());
    return tokenizer ? tokenizer->encode(plan_.prompt) : std::vector<int32_t>();
  }

  /// One process that generates everything (its memory), one that stops after a token (its time).
  Result<void> measure_process(const std::vector<std::string>& whole,
                               const std::vector<std::string>& first, SideFigures& side) {
    const auto all = run_program(whole, plan_.timeout);
    if (!all) return fail_from(all);
    const auto one = run_program(first, plan_.timeout);
    if (!one) return fail_from(one);
    if (all->status != 0 || one->status != 0)
      return fail(fmt::format("{} ended with status {}", whole[0],
                              all->status != 0 ? all->status : one->status));
    side.peak_mb.push_back(static_cast<double>(all->peak_resident_bytes) / 1e6);
    side.first_token_ms.push_back(one->wall_ns / 1e6);
    return {};
  }

  Result<void> measure_ours() {
    auto done = measure_process(our_command(plan_.tokens), our_command(1), result_.ours);
    if (!done) return done;
    // In a child, so that this process stays small: what it holds would count as theirs.
    const auto text = call_in_child(
        [&] {
          const auto speed = measure_speed(plan_);
          return speed ? fmt::format("[{},{}]", speed->first, speed->second)
                       : Json(speed.error().message()).dump();
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
    auto done = measure_process(other_.generate_command(request_), other_.generate_command(single),
                                result_.theirs);
    if (!done) return done;
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
