#include "cli/self_test_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/session.hpp"
#include "kernels/reduce.hpp"
#include "model/engine.hpp"

namespace trilobite::cli {
namespace {

// 150 KiB: inside the second-level cache, and half a percent of it is whole vectors.
constexpr size_t kNumbers = 38'400;
constexpr size_t kDepth = 64;  // positions before the token that is decoded

/// An array and its sums.
class Summing {
 public:
  explicit Summing(size_t count) : numbers_(count, 1.0F), sums_(count / kernels::kSumBlock + 1) {}
  void operator()() {
    kernels::sum_blocks({DType::f32, numbers_.data(), numbers_.size(), sums_.data()});
  }

 private:
  std::vector<float> numbers_;
  std::vector<double> sums_;
};

size_t with_extra(size_t count, double extra) {
  return static_cast<size_t>(std::llround(static_cast<double>(count) * (1 + extra)));
}

std::vector<Case> suite_cases() {
  std::vector<Case> cases;
  for (size_t i = 0; i < kSuiteSize; ++i)
    cases.push_back({.dtype = "f32", .shape = fmt::format("{}", 4096 + 1024 * i)});
  return cases;
}

void decode(Bench& p, const SelfTestProgram& program) {
  auto engine = model::Engine::load(program.model, {.threads = p.threads(), .context = kDepth + 1});
  if (!engine) return p.fail(engine.error().message());
  const std::vector<int32_t> prompt(kDepth, 1);
  const model::Feed before{0, prompt};
  const model::Feed next{0, std::span(prompt).first(1)};
  bool fine = engine->feed({&before, 1}).has_value();
  Summing extra(kExtraSum);
  p.measure([&] {
    engine->truncate(0, kDepth);
    fine = engine->feed({&next, 1}).has_value() && fine;
    for (uint64_t i = 0; i < program.extra_sums; ++i) extra();
  });
  if (!fine) p.fail("the model could not be run");
}

}  // namespace

std::vector<std::string> command_of(const SelfTestProgram& program) {
  return {"/proc/self/exe", "self-test",
          "--extra-work",   fmt::format("{}", program.extra),
          "--extra-sums",   fmt::format("{}", program.extra_sums),
          "--model",        program.model.string()};
}

std::vector<BenchmarkDefinition> self_test_definitions(const SelfTestProgram& program) {
  const auto one = [](Case only) { return [only] { return std::vector{only}; }; };
  const auto sum = [extra = program.extra](Bench& p) {
    const auto size = p.shape() == "-" ? kNumbers : std::stoul(p.shape());
    p.measure(Summing(with_extra(size, extra)));
  };
  return {
      {"self_test", "sum", one({.dtype = "f32"}), sum},
      {"self_test", "part", suite_cases, sum},
      {"self_test", "decode", one({.device = "cpu"}), [program](Bench& p) { decode(p, program); }}};
}

Result<std::string> one_run(const SelfTestProgram& program) {
  const auto definitions = self_test_definitions(program);
  const auto all = select_benchmarks(definitions, {});
  if (!all) return fail_from(all);
  const std::vector<SelectedBenchmark> kernel{all->front()};
  const SamplingPlan plan;
  Collector collector(kernel, plan, nullptr);
  Session session{kernel, plan, collector, {}};
  if (const auto end = run_isolated(session); !end) return fail_from(end);
  StepResult result;
  result.partial = collector.result(0);
  return json_line(to_json(result));
}

uint64_t sums_that_take(double share, double token_ns) {
  using std::chrono::steady_clock;
  Summing sum(kExtraSum);
  std::vector<double> samples;
  constexpr int kSums = 100;
  while (samples.size() < 301) {
    const auto begin = steady_clock::now();
    for (int i = 0; i < kSums; ++i) sum();
    samples.push_back(
        std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count() / kSums);
  }
  std::ranges::nth_element(samples, samples.begin() + 75);  // the quarter that was not disturbed
  return static_cast<uint64_t>(std::llround(share * token_ns / samples[75]));
}

}  // namespace trilobite::cli
