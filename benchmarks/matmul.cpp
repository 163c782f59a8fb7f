// Suite matmul: the same product with inputs that lie differently in memory, and large products per
// element type.

#include "op_benchmark.hpp"

namespace trilobite::benchmarks {
namespace {

const std::vector<std::string> kLayouts{"dense", "transposed", "strided"};

bool register_suite() {
  register_benchmark(
      {.suite = "matmul",
       .operation = "matmul",
       .cases =
           [] {
             return over(axis("dtype", std::vector<std::string>{"f32", "f16", "bf16"}),
                         axis("shape", std::vector<std::string>{"256x256", "512x512", "1024x1024",
                                                                "1x4096x4096", "2048x2048"}),
                         axis("layout", kLayouts), axis("device", cpu_device_names()));
           },
       .body = [](Bench& p) { run_op(p, Op::matmul); }});
  register_benchmark({.suite = "matmul",
                      .operation = "add",
                      .cases =
                          [] {
                            return over(
                                axis("dtype", std::vector<std::string>{"f32"}),
                                axis("shape", std::vector<std::string>{"1024x1024", "2048x2048"}),
                                axis("layout", kLayouts), axis("device", cpu_device_names()));
                          },
                      .body = [](Bench& p) { run_op(p, Op::add); }});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
