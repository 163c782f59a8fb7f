// Suite lowbit: raw products of ternary weights and int8 activations, per instruction set, beside
// the machine's read bandwidth and oneDNN's byte product in the same run.

#include <algorithm>
#include <cmath>

#include "device/onednn/int8_product.hpp"
#include "kernels/absmax.hpp"
#include "kernels/absmean.hpp"
#include "lowbit_inputs.hpp"
#include "measure/limits.hpp"

namespace trilobite::benchmarks {
namespace {

const std::vector<std::string> kTernary{"ternary-2.0", "ternary-1.6"};

/// The first and the last rows of the first and the last token, against plain sums.
bool is_right(const quant::TernaryTiles& weights, const RandomActivations& x,
              const std::vector<float>& out) {
  const size_t tokens = out.size() / weights.rows();
  for (const size_t token : {size_t{0}, tokens - 1}) {
    for (size_t i = 0; i < std::min<size_t>(70, weights.rows()); ++i) {
      for (const size_t row : {i, weights.rows() - 1 - i}) {
        int32_t sum = 0;
        for (size_t c = 0; c < weights.columns(); ++c) {
          sum += weights.weight_at(row, c) * x.at(token, c);
        }
        if (out[token * weights.rows() + row] != static_cast<float>(sum)) return false;
      }
    }
  }
  return true;
}

void ternary(Bench& p, bool in_cache) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  auto weights = WeightsInTurn::create(*shape, form_of(p.dtype()), in_cache);
  if (!weights) return p.fail(weights.error().message());
  const auto tokens = static_cast<size_t>(std::max<int64_t>(1, p.number("batch")));
  const RandomActivations x(tokens, shape->columns, weights->any().padded_columns(), p.seed());
  std::vector<float> out(tokens * shape->rows);
  ThreadPool& pool = shared_pool(p.threads());
  const auto product = [&] {
    const kernels::TernaryCall call{
        .weights = weights->next(), .x = x.rows(), .out = out.data(), .out_stride = shape->rows};
    kernels::run_ternary_product(call, pool);
  };
  const double elements = static_cast<double>(shape->rows) * static_cast<double>(shape->columns);
  p.work({.elements = elements,
          .bytes_read = static_cast<double>(weights->any().bytes()),
          .tokens = static_cast<double>(tokens),
          .flops = 2 * elements * static_cast<double>(tokens),
          .compute = "ternary",
          .working_set_bytes = weights->total_bytes()});
  p.verify([&] {
    product();
    return is_right(weights->any(), x, out);
  });
  p.measure(product);
}

/// The yardstick of memory: as many bytes as the product of this shape reads, read by the loop that
/// measures the machine's limit.
void read(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  auto weights = WeightsInTurn::create(*shape, quant::TernaryForm::two_bit, false);
  if (!weights) return p.fail(weights.error().message());
  ThreadPool& pool = shared_pool(p.threads());
  const auto read_loop = fastest_read(pool);
  if (!read_loop) return p.fail(read_loop.error().message());
  constexpr size_t kStep = 4096;
  const size_t bytes = weights->any().bytes() / kStep * kStep;
  p.work({.bytes_read = static_cast<double>(bytes), .working_set_bytes = weights->total_bytes()});
  p.measure([&] {
    const auto* from = reinterpret_cast<const std::byte*>(weights->next().panel(0));
    pool.for_range(bytes, kStep, [&](size_t first, size_t last) {
      Bench::keep_alive((*read_loop)(from + first, last - first));
    });
  });
}

void onednn(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  const auto tokens = static_cast<size_t>(p.number("batch"));
  const RandomActivations x(tokens, shape->columns, shape->columns, p.seed());
  auto packed = WeightsInTurn::create(*shape, quant::TernaryForm::two_bit, true);
  if (!packed) return p.fail(packed.error().message());
  std::vector<int8_t> weights(shape->rows * shape->columns);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = packed->any().weight_at(i / shape->columns, i % shape->columns);
  }
  auto product =
      OnednnInt8Product::create({tokens, shape->rows, shape->columns}, weights, p.threads());
  if (!product) return p.skip(product.error().message());
  std::vector<uint8_t> codes(tokens * shape->columns);
  for (size_t i = 0; i < codes.size(); ++i) {
    // Seven bits: without VNNI the library sums pairs of products in 16 bits, which saturate.
    codes[i] = static_cast<uint8_t>(x.at(i / shape->columns, i % shape->columns) & 0x7F);
  }
  std::vector<int32_t> out(tokens * shape->rows);
  p.work({.tokens = static_cast<double>(tokens),
          .flops = 2.0 * static_cast<double>(weights.size() * tokens),
          .compute = "i8"});
  p.verify([&] {
    product->run(codes.data(), out.data());
    for (size_t row = 0; row < shape->rows; ++row) {
      int32_t sum = 0;
      for (size_t c = 0; c < shape->columns; ++c) {
        sum += codes[(tokens - 1) * shape->columns + c] * weights[row * shape->columns + c];
      }
      if (out[(tokens - 1) * shape->rows + row] != sum) return false;
    }
    return true;
  });
  p.measure([&] { product->run(codes.data(), out.data()); });
  p.kernels({{product->kernel(), 1}});
}

void activations(Bench& p) {
  if (!use_isa_of(p)) return;
  const auto columns = static_cast<size_t>(std::stoul(p.shape()));
  const auto x = uniform_values(columns, {p.seed(), 1});
  std::vector<int8_t> codes(columns);
  p.work({.elements = static_cast<double>(columns),
          .bytes_read = 4.0 * static_cast<double>(columns),
          .bytes_written = static_cast<double>(columns)});
  const auto quantize = [&] {
    return kernels::quantize_absmax({.x = x.data(),
                                     .columns = columns,
                                     .padded_columns = columns,
                                     .epsilon = 1e-5f,
                                     .codes = codes.data()});
  };
  p.verify([&] {
    const auto result = quantize();
    for (size_t i = 0; i < columns; ++i) {
      const float rounded = static_cast<float>(codes[i]) * result.scale;
      if (std::abs(rounded - x[i]) > 0.501f * result.scale) return false;
    }
    return true;
  });
  p.measure([&] { return quantize().sum; });
}

void pack(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  const auto dense = uniform_values(shape->rows * shape->columns, {p.seed(), 1});
  const auto view = quant::MatrixView::from(dense, shape->rows, shape->columns).value();
  ThreadPool& pool = shared_pool(p.threads());
  const kernels::AbsmeanTilesOptions options{.form = form_of(p.dtype())};
  const auto quantize = [&] { return kernels::quantize_absmean_tiles(view, options, pool); };
  const double elements = static_cast<double>(dense.size());
  // Read twice: once for the mean, once for the codes.
  p.work({.elements = elements,
          .bytes_read = 8 * elements,
          .bytes_written = p.dtype() == "ternary-2.0" ? elements / 4 : elements / 5});
  p.verify([&] {
    const auto ternary = quantize();
    if (!ternary) return false;
    const float divisor = ternary->scales[0] + 1e-5f;
    for (size_t i = 0; i < dense.size(); i += 97) {
      const float ratio = dense[i] / divisor;
      const int code = (ratio > 0.5f) - (ratio < -0.5f);
      if (ternary->tiles.weight_at(i / shape->columns, i % shape->columns) != code) return false;
    }
    return true;
  });
  p.measure([&] { return quantize()->scales[0]; });
}

void add(std::string operation, std::function<std::vector<Case>()> cases,
         std::function<void(Bench&)> body) {
  register_benchmark({"lowbit", std::move(operation), std::move(cases), std::move(body)});
}

const Axis kCpu = axis("device", std::vector<std::string>{"cpu"});

void add_products() {
  const auto from_memory = [](Bench& p) { ternary(p, false); };
  const auto from_cache = [](Bench& p) { ternary(p, true); };
  const auto dtype = axis("dtype", kTernary);
  const auto shape = axis("shape", kModelShapes);
  add("gemv", [=] { return over(dtype, shape, axis("isa", isa_names()), kCpu); }, from_memory);
  add(
      "gemv-in-l2",
      [=] {
        const auto small = axis("shape", std::vector<std::string>{"512x1024"});
        return over(dtype, small, axis("isa", isa_names()), kCpu);
      },
      from_cache);
  add(
      "gemm", [=] { return over(dtype, shape, axis("batch", {2, 4, 8, 16, 32}), kCpu); },
      from_memory);
  add(
      "gemm",
      [=] { return over(dtype, shape, axis("batch", {128, 512}), axis("isa", isa_names()), kCpu); },
      from_cache);
  add(
      "gemm",
      [=] {
        return over(axis("dtype", std::vector<std::string>{"u8s8s32"}), shape,
                    axis("batch", {1, 8, 32, 128, 512}),
                    axis("device", std::vector<std::string>{"onednn"}));
      },
      onednn);
}

void add_preparations() {
  add(
      "absmax",
      [] {
        return over(axis("dtype", std::vector<std::string>{"int8"}), axis("shape", {2560, 6912}),
                    axis("isa", isa_names()), kCpu);
      },
      activations);
  add(
      "absmean",
      [] {
        return over(axis("dtype", kTernary),
                    axis("shape", std::vector<std::string>{"2560x2560", "6912x2560"}), kCpu);
      },
      pack);
}

bool register_suite() {
  add("read", [] { return over(axis("shape", kModelShapes), kCpu); }, read);
  add_products();
  add_preparations();
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
