#include "cli/inference_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/rng.hpp"
#include "base/thread_pool.hpp"
#include "cli/inference_check.hpp"
#include "cli/stop_signal.hpp"
#include "measure/clock.hpp"
#include "measure/limit_loops.hpp"
#include "measure/page_cache.hpp"
#include "measure/process_usage.hpp"

namespace trilobite::cli {
namespace {

constexpr size_t kLoads = 3;
// More of a file than this still in memory, and loading it is not cold.
constexpr double kColdShare = 0.02;
constexpr size_t kBatchPrompt = 16;

std::vector<int32_t> random_tokens(size_t count, size_t vocabulary, uint64_t seed) {
  Rng rng(seed);
  std::vector<int32_t> tokens(count);
  for (auto& token : tokens) token = static_cast<int32_t>(rng.below(vocabulary));
  return tokens;
}

std::string types_by_size(const gguf::Gguf& file) {
  std::map<std::string_view, size_t> bytes;
  for (const auto& tensor : file.tensors()) bytes[tensor.type->name] += tensor.data.size();
  std::vector<std::pair<std::string_view, size_t>> sorted(bytes.begin(), bytes.end());
  std::ranges::sort(sorted, std::greater(), &std::pair<std::string_view, size_t>::second);
  std::vector<std::string_view> names;
  for (const auto& [name, size] : sorted) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The read bandwidth of this machine now, over as many bytes as one token reads.
class BandwidthProbe {
 public:
  static Result<BandwidthProbe> create(size_t bytes, unsigned threads) {
    constexpr size_t kStep = 4096;
    const size_t size = std::clamp<size_t>(bytes, size_t{1} << 20, size_t{1} << 29) / kStep * kStep;
    auto buffer = AlignedBuffer::allocate(size);
    if (!buffer) return fail_from(buffer);
    std::ranges::fill(buffer->bytes(), std::byte{1});
    return BandwidthProbe(*std::move(buffer), threads);
  }

  size_t bytes() const { return buffer_.size(); }

  /// Bytes per second: the best of a few passes.
  double measure() {
    constexpr int kPasses = 4;
    SteadyClock clock;
    const auto loops = limit_loops();
    double best = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      const auto read = loops.read[static_cast<size_t>(pass) % std::size(loops.read)];
      const auto start = clock.now_ns();
      pool_->for_range(buffer_.size(), 4096, [&](size_t begin, size_t end) {
        volatile uint64_t kept = read(buffer_.data() + begin, end - begin);
        (void)kept;
      });
      const auto ns = static_cast<double>(std::max<int64_t>(1, clock.now_ns() - start));
      best = std::max(best, static_cast<double>(buffer_.size()) * 1e9 / ns);
    }
    return best;
  }

 private:
  BandwidthProbe(AlignedBuffer buffer, unsigned threads)
      : buffer_(std::move(buffer)), pool_(std::make_unique<ThreadPool>(threads)) {}
  AlignedBuffer buffer_;
  std::unique_ptr<ThreadPool> pool_;
};

class InferenceRun {
 public:
  explicit InferenceRun(const InferencePlan& plan)
      : plan_(plan), deadline_ns_(clock_.now_ns() + plan.timeout.count()) {}

  Result<InferenceResult> run() {
    auto options = engine_options(plan_.model);
    if (!options) return fail_from(options);
    options_ = *options;
    if (auto done = fit_to_model(); !done) return fail_from(done);
    if (auto done = measure_loading(); !done) return fail_from(done);
    if (auto done = describe_engine(); !done) return fail_from(done);
    if (auto done = iterate(); !done) return fail_from(done);
    engine_.reset();
    measure_batches();
    check_output();
    return std::move(result_);
  }

 private:
  bool out_of_time() {
    if (stop_requested() || clock_.now_ns() >= deadline_ns_) result_.timed_out = true;
    return result_.timed_out;
  }

  /// Lengths that the model allows, and a context that is no longer than needed.
  Result<void> fit_to_model() {
    const auto file = gguf::GgufFile::open(plan_.model.file);
    if (!file) return fail_from(file);
    auto config = model::read_config(file->contents());
    if (!config) return fail_from(config, plan_.model.file);
    result_.is_causal = config->is_causal;
    result_.tokens = config->is_causal ? plan_.tokens : 0;
    result_.prompt_tokens = plan_.prompt_tokens;
    largest_context_ = config->context;
    const size_t limit = options_.context != 0 ? options_.context : config->context;
    if (result_.prompt_tokens + result_.tokens > limit) {
      return fail(
          fmt::format("{} tokens of prompt and {} generated do not fit a context of {}; "
                      "use a smaller --prompt-tokens or --tokens",
                      result_.prompt_tokens, result_.tokens, limit));
    }
    if (options_.context == 0) options_.context = result_.prompt_tokens + result_.tokens;
    vocabulary_ = config->vocabulary;
    prompt_ = random_tokens(result_.prompt_tokens, vocabulary_, plan_.seed);
    result_.file = plan_.model.file;
    result_.file_bytes = file->file().bytes().size();
    result_.architecture = config->architecture_name;
    result_.name = Path(plan_.model.file).stem().string();
    result_.types = types_by_size(file->contents());
    for (const auto& tensor : file->contents().tensors()) result_.parameters += tensor.elements();
    return {};
  }

  /// Reads tokens, or encodes them as one text.
  Result<void> process(std::span<const int32_t> tokens) {
    if (result_.is_causal) {
      const model::Feed feed{0, tokens};
      return engine_->feed({&feed, 1});
    }
    const std::vector<std::vector<int32_t>> texts{{tokens.begin(), tokens.end()}};
    const auto embedded = engine_->embed(texts, model::Pooling::mean);
    return embedded ? Result<void>() : fail_from(embedded);
  }

  Result<LoadTime> load_once() {
    engine_.reset();
    const auto start = clock_.now_ns();
    auto engine = model::Engine::load(plan_.model.file, options_);
    if (!engine) return fail_from(engine);
    engine_.emplace(*std::move(engine));
    const auto ready = clock_.now_ns();
    if (auto done = process(std::span(prompt_).first(1)); !done) return fail_from(done);
    const auto first = clock_.now_ns();
    return LoadTime{static_cast<double>(ready - start), static_cast<double>(first - start)};
  }

  Result<void> measure_loading() {
    for (size_t i = 0; i < kLoads && !out_of_time(); ++i) {
      engine_.reset();
      if (auto dropped = drop_from_page_cache(plan_.model.file); !dropped) {
        result_.cold_unavailable = dropped.error().message();
        break;
      }
      const auto kept = resident_share(plan_.model.file);
      if (!kept || *kept > kColdShare) {
        result_.cold_unavailable =
            kept ? fmt::format("the kernel kept {:.0f} % of the file in memory", 100 * *kept)
                 : kept.error().message();
        break;
      }
      auto time = load_once();
      if (!time) return fail_from(time);
      result_.cold.push_back(*time);
    }
    // At least once: the engine that is measured comes out of it. The first puts the file into
    // memory when the cold ones have not.
    for (size_t i = 0; i < kLoads + 1 && (i < 2 || !out_of_time()); ++i) {
      auto time = load_once();
      if (!time) return fail_from(time);
      if (i > 0) result_.warm.push_back(*time);
    }
    return {};
  }

  Result<void> describe_engine() {
    const auto& engine = *engine_;
    result_.threads = engine.threads();
    result_.context = engine.context();
    result_.kv_type = result_.is_causal ? kernels::name_of(engine.kv_type()) : "none";
    result_.kernels = engine.kernels_used();
    result_.memory = engine.memory();
    const double middle =
        static_cast<double>(result_.prompt_tokens) + static_cast<double>(result_.tokens) / 2;
    result_.bytes_per_token = static_cast<double>(engine.weight_bytes_per_token());
    if (result_.is_causal)
      result_.bytes_per_token += middle * static_cast<double>(engine.kv_bytes_per_position());
    return {};
  }

  /// One generation; times are kept unless it is the first, which warms everything up.
  Result<void> generate(bool keep) {
    if (result_.is_causal) engine_->truncate(0);
    const auto start = clock_.now_ns();
    if (auto done = process(prompt_); !done) return done;
    auto before = clock_.now_ns();
    if (keep) result_.prefill_ns.push_back(static_cast<double>(before - start));
    for (size_t i = 0; i < result_.tokens; ++i) {
      const auto token = model::greedy_token(engine_->logits(0));
      if (!token) return fail_from(token);
      if (i + 1 == result_.tokens) break;  // the last token need not be read
      const std::array<int32_t, 1> next{*token};
      if (auto done = process(next); !done) return done;
      const auto now = clock_.now_ns();
      if (keep) result_.token_ns.push_back(static_cast<double>(now - before));
      before = now;
    }
    if (keep) result_.generation_ns.push_back(static_cast<double>(clock_.now_ns() - start));
    return {};
  }

  Result<void> iterate() {
    if (auto done = generate(false); !done) return done;
    result_.peak_resident_bytes = peak_resident_bytes();
    auto probe =
        BandwidthProbe::create(static_cast<size_t>(result_.bytes_per_token), result_.threads);
    if (!probe) return fail_from(probe);
    result_.bandwidth_working_set = static_cast<double>(probe->bytes());
    for (size_t i = 0; i < plan_.iterations && (i == 0 || !out_of_time()); ++i) {
      result_.bandwidth.push_back(probe->measure());
      const double cpu = cpu_seconds_of_this_process();
      const auto start = clock_.now_ns();
      if (auto done = generate(true); !done) return done;
      result_.wall_seconds += static_cast<double>(clock_.now_ns() - start) / 1e9;
      result_.cpu_seconds += cpu_seconds_of_this_process() - cpu;
    }
    result_.bandwidth.push_back(probe->measure());
    return {};
  }

  /// What goes wrong here is said in its place: everything else has been measured.
  void measure_batches() {
    if (plan_.batches.empty() || out_of_time()) return;
    auto options = options_;
    // A context that was asked for is kept; BERT's texts are as long as the prompt.
    if (result_.is_causal && plan_.model.context == 0)
      options.context = std::min(kBatchPrompt + plan_.tokens, largest_context_);
    for (const size_t sequences : plan_.batches) {
      if (out_of_time()) break;
      BatchSpeed speed{.sequences = sequences};
      // An engine for each, so that one that needs too much memory takes no other with it.
      options.sequences = sequences;
      auto engine = model::Engine::load(plan_.model.file, options);
      if (const auto done = engine ? measure_batch(*engine, speed) : fail_from(engine); !done) {
        speed.step_ns.clear();
        speed.unavailable = done.error().message();
      }
      result_.batches.push_back(std::move(speed));
    }
  }

  Result<void> measure_batch(model::Engine& engine, BatchSpeed& speed) {
    return result_.is_causal ? decode_together(engine, speed) : embed_together(engine, speed);
  }

  Result<void> decode_together(model::Engine& engine, BatchSpeed& speed) {
    // In a short context both the prompt and the steps are fewer.
    const auto prompt =
        random_tokens(std::min(kBatchPrompt, engine.context() / 2), vocabulary_, plan_.seed + 1);
    const size_t steps = std::min(plan_.tokens, engine.context() - prompt.size());
    std::vector<int32_t> latest(speed.sequences);
    std::vector<model::Feed> feeds;
    for (size_t s = 0; s < speed.sequences; ++s) {
      engine.truncate(s);
      feeds.push_back({s, prompt});
    }
    if (auto done = engine.feed(feeds); !done) return done;
    for (size_t step = 0; step < steps && !out_of_time(); ++step) {
      for (size_t s = 0; s < speed.sequences; ++s) {
        const auto token = model::greedy_token(engine.logits(s));
        if (!token) return fail_from(token);
        latest[s] = *token;
        feeds[s].tokens = std::span(latest).subspan(s, 1);
      }
      const auto start = clock_.now_ns();
      if (auto done = engine.feed(feeds); !done) return done;
      speed.step_ns.push_back(static_cast<double>(clock_.now_ns() - start));
    }
    return {};
  }

  Result<void> embed_together(model::Engine& engine, BatchSpeed& speed) {
    const std::vector<std::vector<int32_t>> texts(speed.sequences, prompt_);
    for (size_t i = 0; i < plan_.iterations && !out_of_time(); ++i) {
      const auto start = clock_.now_ns();
      if (const auto done = engine.embed(texts, model::Pooling::mean); !done)
        return fail_from(done);
      speed.step_ns.push_back(static_cast<double>(clock_.now_ns() - start));
    }
    return {};
  }

  void check_output() {
    auto checked = check_inference(plan_.model, options_, prompt_);
    result_.correctness =
        checked ? *std::move(checked)
                : Correctness{.reference = "nothing", .unavailable = checked.error().message()};
  }

  const InferencePlan& plan_;
  SteadyClock clock_;
  int64_t deadline_ns_;
  model::EngineOptions options_;
  std::optional<model::Engine> engine_;
  size_t vocabulary_ = 0;
  size_t largest_context_ = 0;  // of the model
  std::vector<int32_t> prompt_;
  InferenceResult result_;
};

}  // namespace

Result<InferenceResult> measure_inference(const InferencePlan& plan) {
  return InferenceRun(plan).run();
}

}  // namespace trilobite::cli
