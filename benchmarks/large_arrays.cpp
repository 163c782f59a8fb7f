// Suite large_arrays: element-wise and reducing operations on arrays far beyond the last-level
// cache, where only the memory counts, beside the loops that measure the machine's limit.

#include <cstring>

#include "base/aligned_buffer.hpp"
#include "base/thread_pool.hpp"
#include "measure/limits.hpp"
#include "op_benchmark.hpp"

namespace trilobite::benchmarks {
namespace {

/// As many bytes as an f32 array of the operations has.
constexpr size_t kArrayBytes = size_t{8192} * 8192 * sizeof(float);

/// The yardstick for `sum`: one array is read. For `add`: two are read and one is written.
void limit(Bench& p, bool is_triad) {
  const size_t arrays = is_triad ? 3 : 1;
  auto memory = AlignedBuffer::allocate(arrays * kArrayBytes);
  if (!memory) return p.fail(memory.error().message());
  std::memset(memory->data(), 0, memory->size());
  std::byte* const from = memory->data();
  const auto loops = limit_loops();
  ThreadPool pool(p.threads());
  const auto read = fastest_read(pool);
  if (!read) return p.fail(read.error().message());
  p.work({.bytes_read = static_cast<double>((is_triad ? 2 : 1) * kArrayBytes),
          .bytes_written = is_triad ? static_cast<double>(kArrayBytes) : 0});
  p.measure([&] {
    pool.for_range(kArrayBytes, 4096, [&](size_t first, size_t last) {
      std::byte* a = from + first;
      if (!is_triad) return Bench::keep_alive((*read)(a, last - first));
      loops.triad(a, a + kArrayBytes, a + 2 * kArrayBytes, last - first, true);
    });
  });
}

bool register_suite() {
  for (const Op op : {Op::add, Op::mul, Op::sum, Op::relu}) {
    register_benchmark(
        {.suite = "large_arrays",
         .operation = std::string(name_of(op)),
         .cases = [] { return op_cases({"f32", "bf16"}, {"8192x8192"}, cpu_device_names()); },
         .body = [op](Bench& p) { run_op(p, op); }});
  }
  for (const bool is_triad : {false, true}) {
    register_benchmark({.suite = "large_arrays",
                        .operation = is_triad ? "limit-triad" : "limit-read",
                        .cases = [] { return op_cases({"f32"}, {"8192x8192"}, {"cpu"}); },
                        .body = [is_triad](Bench& p) { limit(p, is_triad); }});
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
