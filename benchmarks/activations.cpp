// Suite activations: ReLU, GELU (both forms), SiLU and Swish from one cache line's worth to beyond
// the caches.

#include "op_benchmark.hpp"

namespace trilobite::benchmarks {
namespace {

bool register_suite() {
  for (const Op op : {Op::relu, Op::gelu_tanh, Op::gelu_erf, Op::silu, Op::swish}) {
    register_benchmark({.suite = "activations",
                        .operation = std::string(name_of(op)),
                        .cases =
                            [] {
                              return op_cases(
                                  {"f32", "f16", "bf16"},
                                  {"64x64", "256x256", "1024x1024", "2048x2048", "32x128x3072"},
                                  cpu_device_names());
                            },
                        .body = [op](Bench& p) { run_op(p, op); }});
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
