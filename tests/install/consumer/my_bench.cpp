#include <numeric>
#include <trilobite/bench.hpp>
#include <vector>

TRILOBITE_BENCHMARK("sums/accumulate", trilobite::over(trilobite::axis("n", {100, 1000, 10'000}))) {
  const std::vector<float> data(static_cast<size_t>(p.number("n")), 1.0f);
  const auto n = static_cast<double>(data.size());
  p.work({.elements = n, .bytes_read = 4 * n, .flops = n});
  const auto sum = [&] { return std::accumulate(data.begin(), data.end(), 0.0f); };
  p.verify([&] { return sum() == n; });
  p.measure(sum);
}

TRILOBITE_BENCH_MAIN()
