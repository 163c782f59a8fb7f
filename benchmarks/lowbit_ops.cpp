#include "lowbit_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/absmean.hpp"
#include "kernels/bitlinear.hpp"
#include "lowbit_inputs.hpp"
#include "quant/bitnet.hpp"
#include "quant/scheme.hpp"

namespace trilobite::benchmarks {
namespace {

constexpr const char* kScheme = "bitnet";

/// What all three operations start from.
struct Setting {
  MatrixShape shape;
  std::vector<float> values;  // [shape]
  quant::MatrixView view() const {
    return quant::MatrixView::from(values, shape.rows, shape.columns).value();
  }
};

bool is_on_cpu(const Bench& p) { return p.device() == "cpu"; }

void quantize(Bench& p, const Setting& setting) {
  const double elements = static_cast<double>(setting.values.size());
  p.work({.elements = elements, .bytes_read = 8 * elements, .bytes_written = elements / 4});
  const auto view = setting.view();
  if (!is_on_cpu(p)) {
    const auto scheme = quant::find_scheme(kScheme).value();
    p.verify([&] { return quant::quantize(scheme, view).has_value(); });
    return p.measure([&] { return quant::quantize(scheme, view)->bytes.size(); });
  }
  ThreadPool& pool = shared_pool(p.threads());
  p.verify([&] {
    const auto got = kernels::quantize_absmean_tiles(view, {}, pool).value();
    const auto expected = quant::quantize_absmean(view);
    size_t different = 0;
    for (size_t i = 0; i < setting.values.size(); ++i) {
      const size_t columns = setting.shape.columns;
      different += got.tiles.weight_at(i / columns, i % columns) != expected.codes[i];
    }
    // The last place of the mean may move a weight that lies next to half of it.
    Verification result(different <= setting.values.size() / 1'000'000);
    result.reference = "absmean rule";
    result.max_error = static_cast<double>(different);
    return result;
  });
  p.measure([&] { return kernels::quantize_absmean_tiles(view, {}, pool)->scales[0]; });
}

void dequantize(Bench& p, const Setting& setting) {
  if (is_on_cpu(p)) {
    return p.skip(
        "the cpu device multiplies packed weights as they are and never dequantizes them");
  }
  const double elements = static_cast<double>(setting.values.size());
  p.work({.elements = elements, .bytes_read = elements / 4, .bytes_written = 4 * elements});
  const auto scheme = quant::find_scheme(kScheme).value();
  const auto packed = quant::quantize(scheme, setting.view());
  if (!packed) return p.fail(packed.error().message());
  p.verify([&] {
    const auto expected = quant::dequantize_ternary(quant::quantize_absmean(setting.view()));
    return quant::dequantize(scheme, packed->view()).value() == expected;
  });
  p.measure([&] { return quant::dequantize(scheme, packed->view())->front(); });
}

/// Plain sums of the ternary codes and the rounded activations: what `bitlinear` must equal.
std::vector<float> plain_bitlinear(const Setting& x, const quant::TernaryMatrix& weights) {
  const auto codes = quant::quantize_absmax(x.view()).value();
  std::vector<float> out(codes.tokens * weights.rows);
  for (size_t t = 0; t < codes.tokens; ++t) {
    for (size_t row = 0; row < weights.rows; ++row) {
      int32_t sum = 0;
      for (size_t c = 0; c < weights.cols; ++c) {
        sum += weights.codes[row * weights.cols + c] * codes.codes[t * weights.cols + c];
      }
      out[t * weights.rows + row] = static_cast<float>(sum) * weights.scales[0] * codes.scales[t];
    }
  }
  return out;
}

void bitlinear(Bench& p, const Setting& x) {
  const size_t columns = x.shape.columns;
  const Setting dense{{columns, columns}, uniform_values(columns * columns, {p.seed(), 5})};
  const auto ternary = quant::quantize_absmean(dense.view());
  const double flops = 2.0 * static_cast<double>(dense.values.size() * x.shape.rows);
  p.work({.elements = static_cast<double>(x.values.size()),
          .bytes_read = static_cast<double>(dense.values.size() / 4 + 4 * x.values.size()),
          .bytes_written = 4 * static_cast<double>(x.values.size()),
          .tokens = static_cast<double>(x.shape.rows),
          .flops = flops,
          .compute = "ternary"});
  // The definition itself: there is nothing else to hold it against.
  if (!is_on_cpu(p)) return p.measure([&] { return plain_bitlinear(x, ternary).front(); });
  const auto tiles =
      quant::TernaryTiles::pack(ternary.codes, columns, columns, quant::TernaryForm::two_bit);
  auto workspace = kernels::BitLinearWorkspace::create(x.shape.rows, columns);
  if (!tiles) return p.fail(tiles.error().message());
  if (!workspace) return p.fail(workspace.error().message());
  std::vector<float> out(x.values.size());
  const kernels::BitLinearCall call{.weights = *tiles,
                                    .scale = ternary.scales[0],
                                    .x = x.values.data(),
                                    .tokens = x.shape.rows,
                                    .out = out.data()};
  ThreadPool& pool = shared_pool(p.threads());
  const auto forward = [&] { return kernels::bitlinear(call, pool, *workspace).has_value(); };
  p.verify([&] { return forward() && out == plain_bitlinear(x, ternary); });
  p.measure(forward);
}

}  // namespace

const std::vector<std::string>& lowbit_op_names() {
  static const std::vector<std::string> names{"quantize", "dequantize", "bitlinear"};
  return names;
}

void run_lowbit_op(Bench& p, const std::string& operation) {
  if (p.device() != "cpu" && p.device() != "reference") {
    return p.skip(fmt::format("{} has no low-bit operations", p.device()));
  }
  if (p.dtype() != "f32") {
    return p.skip(fmt::format("{} starts from f32, not {}", operation, p.dtype()));
  }
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.skip(shape.error().message());
  if (!use_isa_of(p)) return;
  const Setting setting{*shape, uniform_values(shape->rows * shape->columns, {p.seed(), 4})};
  if (operation == "quantize") return quantize(p, setting);
  if (operation == "dequantize") return dequantize(p, setting);
  bitlinear(p, setting);
}

}  // namespace trilobite::benchmarks
