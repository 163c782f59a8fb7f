#pragma once
// Write a benchmark: state the work it does, check the answer, then hand over what is to be timed.
//
//     #include <trilobite/bench.hpp>
//
//     TRILOBITE_BENCHMARK("sums/accumulate", trilobite::over(trilobite::axis("n", {100, 10'000})))
//     {
//       const std::vector<float> data(p.number("n"), 1.0f);  // setup: never timed
//       p.work({.elements = 1.0 * data.size(), .bytes_read = 4.0 * data.size()});
//       const auto sum = [&] { return std::accumulate(data.begin(), data.end(), 0.0f); };
//       p.verify([&] { return sum() == data.size(); });  // runs once, before the clock
//       p.measure(sum);                                  // the result is kept alive
//     }
//     TRILOBITE_BENCH_MAIN()
//
// A body runs once per round; rounds of all benchmarks are interleaved in random order. Its first
// run also checks, warms up and calibrates. Link trilobite::bench_main (which brings
// trilobite::lab).

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace trilobite {

/// What one iteration does. 0 means "does not apply". Throughputs and the share of the machine's
/// limit follow from it.
struct Work {
  double elements = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double items = 0;
  double tokens = 0;
  double flops = 0;
  std::string compute = "f32";   ///< arithmetic that `flops` counts: f32, bf16, i8 or ternary
  double working_set_bytes = 0;  ///< touched by many iterations together; 0: what one touches
};

/// The outcome of comparing the benchmark's output with a reference.
struct Verification {
  bool passed = false;
  std::string reference = "expected value";
  double max_error = 0;
  double tolerance = 0;
  double cosine = 1;  ///< NaN when it means nothing

  Verification() = default;
  /// So that a plain condition can be given to Bench::verify.
  Verification(bool condition) : passed(condition) {}  // NOLINT(google-explicit-constructor)
};

/// One parameterisation of a benchmark. The id is suite/operation/dtype/device/shape, followed by
/// the other parameters as /name=value.
struct Case {
  std::string dtype = "-";
  std::string device = "-";
  std::string shape = "-";
  std::map<std::string, std::string> parameters;
};

/// What a benchmark body sees: its parameters, and where it reports to.
class Bench {
 public:
  virtual ~Bench() = default;

  const Case& parameters() const { return case_; }
  const std::string& dtype() const { return case_.dtype; }
  const std::string& device() const { return case_.device; }
  const std::string& shape() const { return case_.shape; }
  /// The parameter `name`; empty when there is none.
  std::string text(std::string_view name) const;
  /// The parameter `name` as a whole number; 0 when there is none.
  int64_t number(std::string_view name) const;

  unsigned threads() const { return threads_; }
  uint64_t seed() const { return seed_; }
  bool deterministic() const { return deterministic_; }
  /// The instruction set to narrow to; empty: the best there is.
  const std::string& isa() const { return isa_; }

  /// Says what one iteration does.
  virtual void work(const Work& work) = 0;
  /// Runs `check` (returns bool or Verification) in the first round; when it does not pass, nothing
  /// is timed.
  template <typename Check>
  void verify(Check&& check) {
    if (wants_verification()) report(Verification(check()));
  }
  /// Times `body`. Its result is kept alive, so it is not optimised away.
  template <typename Body>
  void measure(Body&& body) {
    using Callable = std::remove_reference_t<Body>;
    run(
        [](void* context, uint64_t iterations) {
          auto& call = *static_cast<Callable*>(context);
          // A loop that crosses a fetch line costs a cycle more per iteration, by the accident of
          // where the linker put it.
          asm volatile(".p2align 6");
          for (; iterations != 0; --iterations) {
            if constexpr (std::is_void_v<decltype(call())>) {
              call();
              asm volatile("" : : : "memory");
            } else {
              keep_alive(call());
            }
          }
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }
  /// A number besides time that belongs to the result: an error, a ratio, a size. The name carries
  /// the unit ("snr_db"); a number that is not finite is recorded as missing.
  virtual void figure(std::string name, double value) = 0;
  /// Calls of each kernel that ran while measuring, as counted by whoever dispatched them.
  virtual void kernels(const std::map<std::string, uint64_t>& calls) = 0;
  /// Does not apply here, for this reason. Return from the body afterwards.
  virtual void skip(std::string reason) = 0;
  /// Cannot be set up, for this reason. Return from the body afterwards.
  virtual void fail(std::string reason) = 0;

  /// Makes the compiler believe that `value` is used.
  template <typename T>
  static void keep_alive(T&& value) {
    asm volatile("" : : "r,m"(value) : "memory");
  }

 protected:
  using Loop = void (*)(void* context, uint64_t iterations);
  virtual bool wants_verification() const = 0;
  virtual void report(const Verification& verification) = 0;
  virtual void run(Loop loop, void* context) = 0;

  Case case_;
  unsigned threads_ = 1;
  uint64_t seed_ = 42;
  bool deterministic_ = false;
  std::string isa_;
};

/// A registered benchmark. Cases are made when somebody asks for them.
struct BenchmarkDefinition {
  std::string suite;
  std::string operation;
  std::function<std::vector<Case>()> cases;
  std::function<void(Bench&)> body;
};

/// Adds to the list of benchmarks; returns true so that it can initialise a static.
bool register_benchmark(BenchmarkDefinition definition);
/// In the order of registration.
const std::vector<BenchmarkDefinition>& registered_benchmarks();

/// One dimension of a parameter sweep.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};
/// An axis named dtype, device or shape fills that part of the id; any other becomes a parameter.
Axis axis(std::string name, const std::vector<int64_t>& values);
Axis axis(std::string name, std::vector<std::string> values);
/// All combinations; the last axis varies fastest. Without axes: one case.
std::vector<Case> over(const std::vector<Axis>& axes);
template <typename... More>
std::vector<Case> over(Axis first, More... more) {
  return over(std::vector<Axis>{std::move(first), std::move(more)...});
}

namespace detail {
/// Splits "suite/operation" and registers.
bool register_named(std::string_view name, std::vector<Case> cases,
                    std::function<void(Bench&)> body);
}  // namespace detail

/// The command line of `trilobite bench` for a program with its own benchmarks; returns the exit
/// code.
int bench_main(int argc, char** argv);

}  // namespace trilobite

#define TRILOBITE_CONCAT_(a, b) a##b
#define TRILOBITE_CONCAT(a, b) TRILOBITE_CONCAT_(a, b)

/// TRILOBITE_BENCHMARK("suite/operation") or TRILOBITE_BENCHMARK("suite/operation", over(...)),
/// then a body that uses `p` (a trilobite::Bench&).
#define TRILOBITE_BENCHMARK(name, ...)                                                      \
  static void TRILOBITE_CONCAT(trilobite_body_, __LINE__)(::trilobite::Bench&);             \
  [[maybe_unused]] static const bool TRILOBITE_CONCAT(trilobite_registered_, __LINE__) =    \
      ::trilobite::detail::register_named(name, ::trilobite::detail::cases_of(__VA_ARGS__), \
                                          TRILOBITE_CONCAT(trilobite_body_, __LINE__));     \
  static void TRILOBITE_CONCAT(trilobite_body_, __LINE__)([[maybe_unused]] ::trilobite::Bench & p)

#define TRILOBITE_BENCH_MAIN() \
  int main(int argc, char** argv) { return ::trilobite::bench_main(argc, argv); }

namespace trilobite::detail {
inline std::vector<Case> cases_of() { return {Case()}; }
inline std::vector<Case> cases_of(std::vector<Case> cases) { return cases; }
}  // namespace trilobite::detail
