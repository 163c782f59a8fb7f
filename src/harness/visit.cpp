#include "harness/visit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "measure/allocation_count.hpp"

namespace trilobite {
namespace {

constexpr int64_t kQuietBudget = 4;

class Visit final : public Bench {
 public:
  Visit(const SelectedBenchmark& benchmark, const Step& step,
        const std::optional<Calibration>& calibration, VisitTools tools)
      : calibration_(calibration), tools_(tools), started_ns_(tools.clock.now_ns()) {
    case_ = benchmark.parameters;
    threads_ = tools.plan.threads;
    seed_ = tools.plan.seed;
    deterministic_ = tools.plan.deterministic;
    isa_ = tools.plan.isa;
    result_.benchmark = step.benchmark;
    result_.round = step.round;
  }

  void work(const Work& work) override {
    result_.partial.work = {.elements = work.elements,
                            .bytes_read = work.bytes_read,
                            .bytes_written = work.bytes_written,
                            .items = work.items,
                            .tokens = work.tokens,
                            .flops = work.flops,
                            .compute = work.compute,
                            .working_set_bytes = work.working_set_bytes};
  }
  void figure(std::string name, double value) override {
    result_.partial.figures[std::move(name)] = value;
  }
  void kernels(const std::map<std::string, uint64_t>& calls) override {
    result_.partial.kernels = calls;
  }
  void skip(std::string reason) override { end(Status::skipped, std::move(reason)); }
  void fail(std::string reason) override { end(Status::failed, std::move(reason)); }

  StepResult finish() {
    if (result_.partial.status == Status::ok && result_.partial.samples_ns.empty()) {
      end(Status::failed, "the benchmark never called measure()");
    }
    return std::move(result_);
  }

 protected:
  bool wants_verification() const override {
    return !calibration_ && result_.partial.status == Status::ok;
  }
  void report(const Verification& verification) override;
  void run(Loop loop, void* context) override;

 private:
  void end(Status status, std::string reason) {
    if (result_.partial.status != Status::ok) return;  // the first reason is the cause
    result_.partial.status = status;
    result_.partial.reason = std::move(reason);
  }
  void calibrate(const IterationLoop& loop, Sampler& sampler);
  void take_quiet_samples(const IterationLoop& loop, Sampler& sampler);

  std::optional<Calibration> calibration_;
  VisitTools tools_;
  int64_t started_ns_;
  StepResult result_;
};

void Visit::report(const Verification& verification) {
  result_.partial.check = CheckOutcome{.reference = verification.reference,
                                       .max_error = verification.max_error,
                                       .tolerance = verification.tolerance,
                                       .passed = verification.passed};
  if (!std::isnan(verification.cosine)) result_.partial.check->cosine = verification.cosine;
  if (verification.passed) return;
  const auto cosine = std::isnan(verification.cosine)
                          ? std::string()
                          : fmt::format("; the cosine is {:.6f}", verification.cosine);
  end(Status::failed,
      fmt::format("wrong output: differs from {} by {:.3g}, allowed is {:.3g}{}",
                  verification.reference, verification.max_error, verification.tolerance, cosine));
}

/// First round: memory of one iteration, warm-up, then iterations and samples from its speed.
void Visit::calibrate(const IterationLoop& loop, Sampler& sampler) {
  loop(1);  // what happens only once (lazy initialisation) is not the memory use of an iteration
  if (allocations_are_counted()) {
    start_counting_allocations();
    loop(1);
    const auto count = stop_counting_allocations();
    result_.partial.memory = MemoryUse{.allocated_bytes = count.allocated_bytes,
                                       .peak_bytes = count.peak_bytes,
                                       .allocations = count.allocations};
  }
  const auto warm = sampler.warm_up(loop, tools_.plan);
  result_.warm_up_was_stable = warm.stable;
  calibration_ =
      Calibration{.iterations_per_sample = iterations_for(tools_.plan, warm.ns_per_iteration),
                  .planned_samples = samples_for(tools_.plan, warm.ns_per_iteration)};
}

void Visit::run(Loop loop, void* context) {
  if (result_.partial.status != Status::ok) return;
  if (!result_.partial.samples_ns.empty())
    return end(Status::failed, "the benchmark called measure() twice");
  const IterationLoop iterate = [=](uint64_t iterations) { loop(context, iterations); };
  Sampler sampler(tools_.clock, tools_.noise);
  if (!calibration_) {
    calibrate(iterate, sampler);
  } else {
    iterate(calibration_->iterations_per_sample);  // caches, branch predictors and clock come back
  }
  result_.partial.iterations_per_sample = calibration_->iterations_per_sample;
  result_.planned_samples = calibration_->planned_samples;
  const size_t rounds = tools_.plan.rounds;
  const size_t count =
      std::max<size_t>(1, samples_in_round(calibration_->planned_samples, rounds, result_.round));
  // Rounds share the timeout; one part is kept for setup and verification.
  const int64_t deadline =
      started_ns_ + tools_.plan.timeout.count() / static_cast<int64_t>(rounds + 1);
  auto samples = sampler.take(iterate, calibration_->iterations_per_sample, count, deadline);
  result_.partial.samples_ns = std::move(samples.ns_per_iteration);
  result_.partial.disturbance = samples.disturbance;
  take_quiet_samples(iterate, sampler);
}

/// All rounds together take no longer than kQuietBudget measurement times for it, and hardly any on
/// a machine without neighbours. What a round does not need, later ones may use.
void Visit::take_quiet_samples(const IterationLoop& loop, Sampler& sampler) {
  // Threads of our own would be the ones who use the other half of the core.
  if (tools_.witness == nullptr || tools_.plan.threads != 1) return;
  const uint64_t iterations = quiet_iterations_for(std::ranges::min(result_.partial.samples_ns));
  if (iterations == 0) return;
  const auto rounds = static_cast<int64_t>(tools_.plan.rounds);
  const auto until_now = static_cast<int64_t>(result_.round + 1);
  const int64_t budget = kQuietBudget * tools_.plan.measurement.count() * until_now / rounds -
                         calibration_->quiet_spent_ns;
  const int64_t start = tools_.clock.now_ns();
  const auto samples =
      sampler.take_quiet(loop, {.iterations = iterations, .budget_ns = budget}, *tools_.witness);
  result_.quiet_spent_ns = tools_.clock.now_ns() - start;
  if (samples.empty()) return;
  result_.partial.quiet = QuietTime{.witness_ns = tools_.witness->shortest_ns(),
                                    .samples_ns = samples,
                                    .samples_per_round = {samples.size()}};
}

}  // namespace

StepResult visit(const SelectedBenchmark& benchmark, const Step& step,
                 const std::optional<Calibration>& calibration, VisitTools tools) {
  Visit context(benchmark, step, calibration, tools);
  try {
    benchmark.definition->body(context);
  } catch (const std::exception& problem) {
    context.fail(fmt::format("the benchmark threw: {}", problem.what()));
  } catch (...) {
    context.fail("the benchmark threw something that is no std::exception");
  }
  return context.finish();
}

}  // namespace trilobite
