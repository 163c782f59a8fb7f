// Suite quantization, what a scheme is worth when weights are used: `product` multiplies by them as
// the engine does, `mixed` by the matrices of a layer under a plan (quant/mixed_precision.hpp),
// both with the speed of f32 weights in the same run beside it; `dynamic` quantises activations,
// whose scales are found while the model runs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lowbit_engine_product.hpp"
#include "measure/clock.hpp"
#include "quant/error_measures.hpp"
#include "quant/mixed_precision.hpp"

namespace trilobite::benchmarks {
namespace {

using Products = std::vector<EngineProduct>;

void run_all(Products& products) {
  for (auto& product : products) product.run();
}

double run_time_ns(Products& products) {
  SteadyClock clock;
  const auto start = clock.now_ns();
  run_all(products);
  return static_cast<double>(std::max<int64_t>(1, clock.now_ns() - start));
}

/// How many times faster than `dense`: the least times of both, taken in turns. A median would
/// mostly say how often others had the CPU, which hits the longer runs.
double speed_against(Products& dense, Products& products) {
  constexpr int kTurns = 15;
  double dense_ns = run_time_ns(dense);
  double own_ns = run_time_ns(products);
  for (int i = 0; i < kTurns; ++i) {
    dense_ns = std::min(dense_ns, run_time_ns(dense));
    own_ns = std::min(own_ns, run_time_ns(products));
  }
  return dense_ns / own_ns;
}

Result<Products> make_products(const std::vector<ProductRequest>& requests, ThreadPool& pool) {
  Products products;
  for (const auto& request : requests) {
    auto product = EngineProduct::create(request, pool);
    if (!product) return fail_from(product);
    products.push_back(*std::move(product));
  }
  return products;
}

Work work_of(const Products& products) {
  Work sum = products.front().work();
  for (const auto& product : std::span(products).subspan(1)) {
    const auto one = product.work();
    sum.elements += one.elements;
    sum.bytes_read += one.bytes_read;
    sum.bytes_written += one.bytes_written;
    sum.flops += one.flops;
    sum.working_set_bytes += one.working_set_bytes;
  }
  return sum;
}

Verification verify_all(Products& products) {
  auto verification = products.front().verify();
  for (auto& product : std::span(products).subspan(1)) {
    const auto one = product.verify();
    verification.passed = verification.passed && one.passed;
    verification.max_error = std::max(verification.max_error, one.max_error);
    verification.tolerance = std::max(verification.tolerance, one.tolerance);
  }
  return verification;
}

/// Times the products and says what they are beside the same ones with f32 weights.
void measure_beside_f32(Bench& p, const std::vector<ProductRequest>& requests) {
  if (!use_isa_of(p)) return;
  ThreadPool& pool = shared_pool(p.threads());
  auto products = make_products(requests, pool);
  if (!products) {
    return products.error().kind() == ErrorKind::environment ? p.skip(products.error().message())
                                                             : p.fail(products.error().message());
  }
  auto dense_requests = requests;
  for (auto& request : dense_requests) request.scheme = "fp32";
  auto dense = make_products(dense_requests, pool);
  if (!dense) return p.fail(dense.error().message());
  double bytes = 0;
  for (const auto& product : *products) bytes += static_cast<double>(product.weight_bytes());
  const auto work = work_of(*products);
  p.work(work);
  p.figure("bits_per_weight", 8 * bytes / work.elements);
  p.figure("memory_reduction", 4 * work.elements / bytes);
  p.verify([&] { return verify_all(*products); });
  p.figure("throughput_against_f32", speed_against(*dense, *products));
  p.measure([&] { run_all(*products); });
}

size_t tokens_of(const Bench& p) {
  return static_cast<size_t>(std::max<int64_t>(1, p.number("batch")));
}

void run_product(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  measure_beside_f32(p, {{.scheme = p.dtype(),
                          .shape = *shape,
                          .tokens = tokens_of(p),
                          .seed = p.seed(),
                          .from_memory = true}});
}

// ---- mixed precision

struct NamedPlan {
  const char* name;
  const char* json;
};
// As files of models are: what is most sensitive keeps more bits.
const std::vector<NamedPlan> kPlans{{"ternary-and-q6_k", R"({"default": "tq2_0",
       "layers": [{"pattern": "output.*", "scheme": "q6_k"}]})"},
                                    {"q4_0-and-q8_0", R"({"default": "q4_0",
       "layers": [{"pattern": "*attn_v*", "scheme": "q8_0"}, {"pattern": "*ffn_down*", "scheme": "q8_0"},
                  {"pattern": "output.*", "scheme": "q8_0"}]})"},
                                    {"q8_0-and-fp16", R"({"default": "q8_0",
       "layers": [{"pattern": "*attn_*", "scheme": "fp16"}]})"}};

/// One layer of the width given, and a head.
std::vector<quant::LayerShape> layer_of(size_t width) {
  return {{"blk.0.attn_q.weight", width, width},       {"blk.0.attn_k.weight", width / 4, width},
          {"blk.0.attn_v.weight", width / 4, width},   {"blk.0.attn_output.weight", width, width},
          {"blk.0.ffn_gate.weight", 2 * width, width}, {"blk.0.ffn_up.weight", 2 * width, width},
          {"blk.0.ffn_down.weight", width, 2 * width}, {"output.weight", 4 * width, width}};
}

void run_mixed(Bench& p) {
  const auto found = std::ranges::find(kPlans, p.dtype(), &NamedPlan::name);
  const auto plan = quant::precision_plan_from_json(parse_json(found->json).value());
  if (!plan) return p.fail(plan.error().message());
  const auto layers = layer_of(static_cast<size_t>(std::stoul(p.shape())));
  const auto cost = quant::cost_of(*plan, layers);
  if (!cost) return p.fail(cost.error().message());
  std::vector<ProductRequest> requests;
  for (const auto& layer : layers) {
    requests.push_back({.scheme = quant::scheme_for(*plan, layer.name).name,
                        .shape = {layer.rows, layer.cols},
                        .tokens = tokens_of(p),
                        .seed = p.seed()});
  }
  p.figure("planned_bits_per_weight", cost->bits_per_weight);
  measure_beside_f32(p, requests);
}

// ---- dynamic quantization

/// Activations of a layer: int8 with a scale for each token, or for every 32 columns of one.
void run_dynamic(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  const auto [tokens, columns] = *shape;
  auto input = model::ProjectionInput::create(tokens, columns);
  if (!input) return p.fail(input.error().message());
  ThreadPool& pool = shared_pool(p.threads());
  const auto x = uniform_values(tokens * columns, {p.seed(), 6});
  const bool by_token = p.dtype() == "int8-token";
  const auto quantize = [&] {
    input->set(x.data(), tokens, columns);
    return (by_token ? input->make_rows(pool) : input->make_groups(pool)).has_value();
  };
  const double elements = static_cast<double>(x.size());
  const double scales = by_token ? static_cast<double>(tokens) : elements / 32;
  p.work({.elements = elements,
          .bytes_read = 4 * elements,
          .bytes_written = elements + 4 * scales,
          .tokens = static_cast<double>(tokens)});
  p.verify([&] {
    input->set(x.data(), tokens, columns);
    if (!input->make_rows(pool) || !input->make_groups(pool)) return Verification(false);
    std::vector<float> restored(x.size());
    const auto rows = input->rows();
    const auto groups = input->groups();
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t token = i / columns;
      const size_t column = i % columns;
      restored[i] = by_token ? static_cast<float>(rows.codes[token * rows.stride + column]) *
                                   rows.scales[token]
                             : static_cast<float>(groups.codes[token * groups.stride + column]) *
                                   groups.scales[(token * columns + column) / 32];
    }
    const auto measures = quant::measure_error(x, restored);
    p.figure("snr_db", measures.snr_db);
    p.figure("memory_reduction", 4 * elements / (elements + 4 * scales));
    Verification verification(measures.max_abs_error <= 0.501 / 127);
    verification.reference = "the activations before quantization";
    verification.max_error = measures.max_abs_error;
    verification.tolerance = 0.501 / 127;  // they are below 1, and half a step is lost at most
    verification.cosine = measures.cosine;
    return verification;
  });
  p.measure(quantize);
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto& scheme : quant::all_schemes()) names.push_back(scheme.name);
  return names;
}

std::vector<std::string> plan_names() {
  std::vector<std::string> names;
  for (const auto& plan : kPlans) names.emplace_back(plan.name);
  return names;
}

bool register_suite() {
  const auto cpu = axis("device", std::vector<std::string>{"cpu"});
  const auto texts = [](std::vector<std::string> values) { return values; };
  const auto batch = axis("batch", {1, 64});
  register_benchmark({"quantization", "product",
                      [=] {
                        return over(axis("dtype", scheme_names()), cpu,
                                    axis("shape", texts({"1024x1024", "4096x4096"})), batch);
                      },
                      run_product});
  register_benchmark(
      {"quantization", "mixed",
       [=] { return over(axis("dtype", plan_names()), cpu, axis("shape", {1024, 2048}), batch); },
       run_mixed});
  register_benchmark({"quantization", "dynamic",
                      [=] {
                        return over(axis("dtype", texts({"int8-token", "int8-group32"})), cpu,
                                    axis("shape", texts({"1x2560", "1x6912", "128x2560"})));
                      },
                      run_dynamic});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
