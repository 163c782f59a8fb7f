#include "device/reference/reference_ops.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

/// A tensor in row-major order, widened.
using Values = std::vector<double>;

Values load(const ConstTensorView& view) {
  Values values;
  values.reserve(static_cast<size_t>(view.elements()));
  for_each_offset(view, [&](int64_t offset) {
    values.push_back(static_cast<double>(load_as_float(view, offset)));
  });
  return values;
}

/// The f32 next to `value` towards zero, with its last bit set when that lost anything. Rounding
/// this to 16 bits gives the same as rounding the double at once (Boldo & Melquiond 2008): going
/// through the nearest f32 would round twice.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || std::isnan(value) || std::isinf(nearest)) return nearest;
  const bool away = std::abs(back) > std::abs(value);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(nearest) - (away ? 1u : 0u)) | 1u);
}

void store(const TensorView& out, const Values& values) {
  const bool single = out.dtype() == DType::f32;
  for (size_t i = 0; i < values.size(); ++i) {
    const float rounded = single ? static_cast<float>(values[i]) : round_to_odd(values[i]);
    store_from_float(out, static_cast<int64_t>(i), rounded);
  }
}

size_t last_extent(const ConstTensorView& view) {
  return static_cast<size_t>(view.shape()[view.shape().rank() - 1]);
}

Values normals(const OpCall& call) {
  Values values(static_cast<size_t>(call.out.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(normal_at(call.seed, 0, i));
  }
  return values;
}

template <typename Combine>
Values combined(const OpCall& call, Combine combine) {
  Values a = load(call.inputs[0]);
  const Values b = load(call.inputs[1]);
  for (size_t i = 0; i < a.size(); ++i) a[i] = combine(a[i], b[i]);
  return a;
}

template <typename Function>
Values mapped(const OpCall& call, Function function) {
  Values x = load(call.inputs[0]);
  std::ranges::transform(x, x.begin(), function);
  return x;
}

Values product(const OpCall& call) {
  const Values a = load(call.inputs[0]);
  const Values b = load(call.inputs[1]);
  const Shape& out_shape = call.out.shape();
  const auto m = static_cast<size_t>(out_shape[out_shape.rank() - 2]);
  const size_t n = last_extent(call.out);
  const size_t k = last_extent(call.inputs[0]);
  Values out(static_cast<size_t>(call.out.elements()), 0.0);
  const bool one_b = call.inputs[1].shape().rank() == 2;
  for (size_t row = 0; n > 0 && row < out.size() / n; ++row) {
    const double* b_matrix = b.data() + (one_b ? 0 : row / m * k * n);
    // k outside of the columns, because that walks b in the order of memory.
    for (size_t p = 0; p < k; ++p) {
      for (size_t column = 0; column < n; ++column) {
        out[row * n + column] += a[row * k + p] * b_matrix[p * n + column];
      }
    }
  }
  return out;
}

double sum_of(const ConstTensorView& view) {
  double sum = 0;
  for (const double value : load(view)) sum += value;
  return sum;
}

Values transposed(const ConstTensorView& a) {
  return load(a.transpose(a.shape().rank() - 2, a.shape().rank() - 1));
}

/// Calls function(row) with each row of x as a span to change in place.
template <typename Function>
Values each_row(const OpCall& call, Function function) {
  Values x = load(call.inputs[0]);
  const size_t width = last_extent(call.inputs[0]);
  for (size_t begin = 0; begin < x.size(); begin += width) {
    function(std::span(x).subspan(begin, width));
  }
  return x;
}

Values softmax(const OpCall& call) {
  return each_row(call, [](std::span<double> row) {
    const double largest = std::ranges::max(row);
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value - largest);
    for (double& value : row) value /= sum;
  });
}

Values rmsnorm(const OpCall& call) {
  const Values weight = load(call.inputs[1]);
  return each_row(call, [&](std::span<double> row) {
    double squares = 0;
    for (const double value : row) squares += value * value;
    const double mean_square = squares / static_cast<double>(row.size());
    const double root = std::sqrt(mean_square + static_cast<double>(call.epsilon));
    for (size_t i = 0; i < row.size(); ++i) row[i] = row[i] / root * weight[i];
  });
}

Values layernorm(const OpCall& call) {
  const Values weight = load(call.inputs[1]);
  const Values bias = load(call.inputs[2]);
  return each_row(call, [&](std::span<double> row) {
    double sum = 0;
    for (const double value : row) sum += value;
    const double mean = sum / static_cast<double>(row.size());
    double squares = 0;
    for (const double value : row) squares += (value - mean) * (value - mean);
    const double variance = squares / static_cast<double>(row.size());
    const double root = std::sqrt(variance + static_cast<double>(call.epsilon));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / root * weight[i] + bias[i];
    }
  });
}

double relu(double x) { return x < 0 ? 0.0 : x; }

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

Values swish(const OpCall& call, double beta) {
  return mapped(call, [beta](double x) { return x / (1 + std::exp(-beta * x)); });
}

Values compute(const OpCall& call) {
  const auto count = static_cast<size_t>(call.out.elements());
  switch (call.op) {
    case Op::zeros: return Values(count, 0.0);
    case Op::ones: return Values(count, 1.0);
    case Op::randn: return normals(call);
    case Op::add: return combined(call, [](double a, double b) { return a + b; });
    case Op::mul: return combined(call, [](double a, double b) { return a * b; });
    case Op::matmul: return product(call);
    case Op::sum: return {sum_of(call.inputs[0])};
    case Op::mean:
      // 0 / 0 would be NaN too, but a division by zero is worth a word.
      if (call.inputs[0].elements() == 0) return {std::numeric_limits<double>::quiet_NaN()};
      return {sum_of(call.inputs[0]) / static_cast<double>(call.inputs[0].elements())};
    case Op::softmax: return softmax(call);
    case Op::transpose: return transposed(call.inputs[0]);
    case Op::reshape: return load(call.inputs[0]);
    case Op::slice: {
      const auto& a = call.inputs[0];
      return load(a.slice(a.shape().rank() - 1, call.begin, call.end));
    }
    case Op::relu: return mapped(call, relu);
    case Op::gelu_tanh: return mapped(call, gelu_tanh);
    case Op::gelu_erf: return mapped(call, gelu_erf);
    case Op::silu: return swish(call, 1);
    case Op::swish: return swish(call, static_cast<double>(call.beta));
    case Op::rmsnorm: return rmsnorm(call);
    case Op::layernorm: return layernorm(call);
  }
  std::unreachable();
}

}  // namespace

void compute_reference(const OpCall& call) { store(call.out, compute(call)); }

}  // namespace trilobite
