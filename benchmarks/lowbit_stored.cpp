// Suite lowbit, operations on weights as they lie in a model file, which is how the engine decodes:
// gemv-stored for packed formats, gemv-dense for floats. f32 activations in, f32 out.

#include <fmt/format.h>

#include "kernels/isa.hpp"
#include "lowbit_engine_product.hpp"

namespace trilobite::benchmarks {
namespace {

void run(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  auto product = EngineProduct::create(
      {.scheme = p.dtype(), .shape = *shape, .seed = p.seed(), .from_memory = true},
      shared_pool(p.threads()));
  if (!product) return p.fail(product.error().message());
  p.work(product->work());
  p.verify([&] { return product->verify(); });
  uint64_t products = 0;
  p.measure([&] {
    product->run();
    ++products;
  });
  p.kernels({{fmt::format("{}/{}", product->kernel(), kernels::current_isa()), products}});
}

void add(const char* operation, const std::vector<std::string>& dtypes) {
  const auto device = axis("device", std::vector<std::string>{"cpu"});
  const auto dtype = axis("dtype", dtypes);
  register_benchmark(
      {"lowbit", operation, [=] { return over(dtype, axis("shape", kModelShapes), device); }, run});
  register_benchmark({"lowbit", operation,
                      [=] {
                        const auto shape = axis("shape", std::vector<std::string>{"2560x2560"});
                        return over(dtype, shape, axis("isa", isa_names()), device);
                      },
                      run});
}

bool register_suite() {
  add("gemv-stored", {"tq2_0", "i2_s", "q4_0", "q8_0", "q6_k"});
  add("gemv-dense", {"fp32", "fp16", "bf16"});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
