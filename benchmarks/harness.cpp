// Suite harness: what the lab itself costs. An empty iteration, and a fork-join of our threads.

#include "base/thread_pool.hpp"
#include "trilobite/bench.hpp"

TRILOBITE_BENCHMARK("harness/empty") {
  p.work({.items = 1});
  p.measure([] {});
}

TRILOBITE_BENCHMARK("harness/fork_join", trilobite::over(trilobite::axis("threads", {1, 2, 4}))) {
  const auto threads = static_cast<unsigned>(p.number("threads"));
  if (threads > trilobite::usable_cpus()) return p.skip("this machine has fewer CPUs than that");
  trilobite::ThreadPool pool(threads);
  p.work({.items = 1});
  p.measure([&] { pool.run([](unsigned) {}); });
}
