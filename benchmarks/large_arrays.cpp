// Suite large_arrays: element-wise and reducing operations on arrays far beyond the last-level
// cache, where only the memory counts.

#include "op_benchmark.hpp"

namespace trilobite::benchmarks {
namespace {

bool register_suite() {
  for (const Op op : {Op::add, Op::mul, Op::sum, Op::relu}) {
    register_benchmark(
        {.suite = "large_arrays",
         .operation = std::string(name_of(op)),
         .cases = [] { return op_cases({"f32", "bf16"}, {"8192x8192"}, cpu_device_names()); },
         .body = [op](Bench& p) { run_op(p, op); }});
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
