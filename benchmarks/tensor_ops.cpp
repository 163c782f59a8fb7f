// Suite tensor_ops: creation, arithmetic, reductions and manipulation over the sizes of the
// checklist.

#include "op_benchmark.hpp"

namespace trilobite::benchmarks {
namespace {

const std::vector<std::string> kSquares{"64x64",   "128x128",   "256x256",
                                        "512x512", "1024x1024", "2048x2048"};
// Batch x sequence x width of transformer layers.
const std::vector<std::string> kLayers{"32x128x768", "16x512x1024", "8x1024x768"};
// MxKxN, as trustformers-core measures them.
const std::vector<std::string> kProducts{"32x768x768", "16x1024x1024", "8x2048x2048", "64x512x2048",
                                         "128x768x3072"};
// BxMxKxN: attention scores, batch x sequence x head width.
const std::vector<std::string> kBatchedProducts{"32x128x64x128", "16x512x64x512", "8x1024x64x1024"};

std::vector<std::string> shapes_of(Op op) {
  std::vector<std::string> shapes = kSquares;
  const auto& more = op == Op::matmul ? kProducts : kLayers;
  shapes.insert(shapes.end(), more.begin(), more.end());
  if (op == Op::matmul)
    shapes.insert(shapes.end(), kBatchedProducts.begin(), kBatchedProducts.end());
  return shapes;
}

bool register_suite() {
  for (const Op op :
       {Op::zeros, Op::ones, Op::randn, Op::add, Op::mul, Op::matmul, Op::sum, Op::mean,
        Op::softmax, Op::transpose, Op::reshape, Op::slice, Op::rmsnorm, Op::layernorm}) {
    register_benchmark(
        {.suite = "tensor_ops",
         .operation = std::string(name_of(op)),
         .cases =
             [op] { return op_cases({"f32", "f16", "bf16"}, shapes_of(op), cpu_device_names()); },
         .body = [op](Bench& p) { run_op(p, op); }});
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
