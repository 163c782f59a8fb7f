#include "device/op_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/reference/reference_ops.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

// Devices compute in f32 or better and round once to the element type. Half an ulp of f32:
constexpr double kUnit = 0x1p-24;

// A sum of n terms in any order is wrong by at most about n u sum|x|. That worst case is useless
// as a test (a lost term would pass); rounding errors behave like a random walk, and then
// lambda sqrt(n) u sum|x| holds with probability 1 - 2 exp(-lambda^2 / 2) (Higham & Mary 2019).
// lambda = 6 leaves 3e-8 per element.
constexpr double kLambda = 6;

// Approximations of exp, tanh and erf are good for a few units; the libraries' worst is an erf
// with an absolute error of 1.5e-7 = 2.5 units (Abramowitz & Stegun 7.1.26).
constexpr double kFunctionUnits = 8;

/// Distance between neighbours at `value`, at most; both answers are rounded to it.
double spacing(DType dtype, double value) {
  switch (dtype) {
    case DType::f16: return 0x1p-10 * std::abs(value) + 0x1p-24;
    case DType::bf16: return 0x1p-7 * std::abs(value) + 0x1p-126;
    default: return 0x1p-23 * std::abs(value) + 0x1p-126;
  }
}

double sum_units(int64_t terms) { return kLambda * std::sqrt(static_cast<double>(terms)) + 2; }

std::vector<double> load_all(const ConstTensorView& view) {
  std::vector<double> values;
  for_each_offset(view, [&](int64_t offset) {
    values.push_back(static_cast<double>(load_as_float(view, offset)));
  });
  return values;
}

/// The same call on absolute values, in f32: what the terms of the sums add up to.
Result<std::vector<double>> magnitudes(const OpCall& call) {
  std::vector<Tensor> inputs;
  OpCall absolute = call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    auto input = Tensor::create(call.inputs[i].shape(), DType::f32);
    if (!input) return fail_from(input);
    float* to = input->view().data<float>();
    for (const double value : load_all(call.inputs[i])) *to++ = static_cast<float>(std::abs(value));
    inputs.push_back(*std::move(input));
    absolute.inputs[i] = inputs.back().view();
  }
  auto out = Tensor::create(call.out.shape(), DType::f32);
  if (!out) return fail_from(out);
  absolute.out = out->view();
  compute_reference(absolute);
  return load_all(out->view());
}

/// Sums of K products, and the sum or mean of everything.
Result<std::vector<double>> sum_errors(const OpCall& call) {
  const auto& a = call.inputs[0];
  const int64_t terms = call.op == Op::matmul ? a.shape()[a.shape().rank() - 1] : a.elements();
  auto errors = magnitudes(call);
  if (!errors) return errors;
  for (double& error : *errors) error *= sum_units(terms) * kUnit;
  return errors;
}

/// x times a function that lies in [0, 1]: the function is off by a few units, the rest by one
/// each.
std::vector<double> activation_errors(const OpCall& call) {
  auto errors = load_all(call.inputs[0]);
  for (double& value : errors) value = kFunctionUnits * kUnit * std::abs(value);
  return errors;
}

/// Each exponential is off by its argument's rounding, |d| u exp(-d) <= u / e, and a few units; the
/// division brings in the error of the sum, relative to the quotient.
std::vector<double> softmax_errors(const OpCall& call, const std::vector<float>& answer) {
  const auto& x = call.inputs[0];
  const double units = sum_units(x.shape()[x.shape().rank() - 1]);
  std::vector<double> errors;
  for (const float p : answer) {
    errors.push_back(kUnit * (kFunctionUnits + units * static_cast<double>(p)));
  }
  return errors;
}

/// The mean is off by sum_units * u * max|x|; so is x - mean, and dividing by the deviation scales
/// that. rmsnorm has no mean but the same bound holds.
std::vector<double> norm_errors(const OpCall& call) {
  const auto x = load_all(call.inputs[0]);
  const auto weight = load_all(call.inputs[1]);
  const size_t width = weight.size();
  const auto bias =
      call.op == Op::layernorm ? load_all(call.inputs[2]) : std::vector<double>(width);
  std::vector<double> errors(x.size());
  for (size_t begin = 0; begin < x.size(); begin += width) {
    double largest = 0;
    double mean = 0;
    double squares = 0;
    for (size_t i = 0; i < width; ++i) {
      largest = std::max(largest, std::abs(x[begin + i]));
      if (call.op == Op::layernorm) mean += x[begin + i] / static_cast<double>(width);
    }
    for (size_t i = 0; i < width; ++i) squares += std::pow(x[begin + i] - mean, 2);
    const double deviation =
        std::sqrt(squares / static_cast<double>(width) + static_cast<double>(call.epsilon));
    const double scale = sum_units(static_cast<int64_t>(width)) * 2 * kUnit * largest / deviation;
    for (size_t i = 0; i < width; ++i) {
      errors[begin + i] = scale * std::abs(weight[i]) + kUnit * std::abs(bias[i]);
    }
  }
  return errors;
}

/// How far the sums and functions may be off before the answer is rounded; empty when the
/// definition leaves no choice: single additions and products are exact in f32 up to the one
/// rounding (f32 has more than twice the digits of f16 and bf16, so rounding twice is harmless).
Result<std::vector<double>> computing_errors(const OpCall& call, const std::vector<float>& answer) {
  switch (call.op) {
    case Op::matmul:
    case Op::sum:
    case Op::mean: return sum_errors(call);
    case Op::softmax: return softmax_errors(call, answer);
    case Op::gelu_tanh:
    case Op::gelu_erf:
    case Op::silu:
    case Op::swish: return activation_errors(call);
    case Op::rmsnorm:
    case Op::layernorm: return norm_errors(call);
    default: return std::vector<double>();
  }
}

bool is_right(float got, float expected, float tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  return std::abs(static_cast<double>(got) - static_cast<double>(expected)) <=
         static_cast<double>(tolerance);
}

}  // namespace

Result<OpExpectation> expectation_of(const OpCall& call) {
  auto out = Tensor::create(call.out.shape(), call.out.dtype());
  if (!out) return fail_from(out);
  OpCall copy = call;
  copy.out = out->view();
  compute_reference(copy);
  OpExpectation expected;
  for (int64_t i = 0; i < copy.out.elements(); ++i) {
    expected.values.push_back(load_as_float(copy.out, i));
  }
  auto errors = computing_errors(call, expected.values);
  if (!errors) return fail_from(errors);
  expected.tolerance.assign(expected.values.size(), 0.0f);
  for (size_t i = 0; i < errors->size(); ++i) {
    const auto value = static_cast<double>(expected.values[i]);
    expected.tolerance[i] = static_cast<float>((*errors)[i] + spacing(call.out.dtype(), value));
  }
  return expected;
}

OpCheck check_output(const OpCall& call, const OpExpectation& expected) {
  OpCheck check;
  double dot = 0;
  double got_squares = 0;
  double expected_squares = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const float got = load_as_float(call.out, static_cast<int64_t>(i));
    const float want = expected.values[i];
    if (check.passed && !is_right(got, want, expected.tolerance[i])) {
      check.passed = false;
      check.problem = fmt::format("element {} is {}, expected {} within {}", i, got, want,
                                  expected.tolerance[i]);
    }
    if (!std::isfinite(got) || !std::isfinite(want)) continue;
    const auto [x, y] = std::pair(static_cast<double>(got), static_cast<double>(want));
    check.max_error = std::max(check.max_error, std::abs(x - y));
    dot += x * y;
    got_squares += x * x;
    expected_squares += y * y;
  }
  if (got_squares > 0 && expected_squares > 0) {
    check.cosine = dot / std::sqrt(got_squares) / std::sqrt(expected_squares);
  }
  return check;
}

}  // namespace trilobite
