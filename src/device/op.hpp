#pragma once
// The operations that devices compute, and one call of one of them as plain data. The same data
// drives the devices, the test that compares them all, and the benchmarks.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace trilobite {

enum class Op : uint8_t {
  zeros,    // out = 0
  ones,     // out = 1
  randn,    // out[i] = normal_at(seed, 0, i) in row-major order (base/rng.hpp)
  add,      // out = a + b
  mul,      // out = a * b
  matmul,   // out[..., M, N] = a[..., M, K] b[..., K, N]; b may be rank 2 and is then used for each
            // batch
  sum,      // out (scalar) = sum of all elements
  mean,     // out (scalar) = mean of all elements; of nothing: NaN
  softmax,  // over the last dimension
  transpose,  // out = a with its last two dimensions swapped, written densely
  reshape,    // out = the elements of a in row-major order, written densely under out's shape
  slice,      // out = a[..., begin:end] of the last dimension, written densely
  relu,       // max(x, 0); of NaN: NaN or 0
  gelu_tanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  gelu_erf,   // 0.5 x (1 + erf(x / sqrt(2)))
  silu,       // x / (1 + exp(-x))
  swish,      // x / (1 + exp(-beta x))
  rmsnorm,    // x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension
  layernorm,  // (x - mean) / sqrt(variance + epsilon) * weight + bias, over the last dimension
};

/// All operations in the order of the enumeration.
std::span<const Op> all_ops();
std::string_view name_of(Op op);
std::optional<Op> op_from_name(std::string_view name);

/// The element types that these operations are defined on: f32, f16, bf16.
std::span<const DType> op_dtypes();

/// One call. Inputs may have any strides (also 0 and negative ones); `out` is dense and shares no
/// memory with the inputs. All have the same element type, one of op_dtypes().
struct OpCall {
  Op op = Op::zeros;
  std::vector<ConstTensorView> inputs{};  // a, b | a | x, weight | x, weight, bias, as listed at Op
  TensorView out{};
  uint64_t seed = 42;     // randn
  int64_t begin = 0;      // slice
  int64_t end = 0;        // slice
  float beta = 1.0f;      // swish
  float epsilon = 1e-5f;  // rmsnorm, layernorm
};

/// How many inputs the operation takes.
size_t input_count(Op op);

/// Empty when `op` is defined on `dtype`, else the reason why not.
std::string why_undefined(Op op, DType dtype);

/// What `out` must look like for these inputs; an error when the shapes or types do not fit
/// together. The shape of `out` itself is used only by zeros, ones, randn and reshape.
Result<Shape> output_shape(const OpCall& call);

/// Checks a call completely (count, types, shapes, parameters, memory); devices may rely on it.
Result<void> check_call(const OpCall& call);

/// Arithmetic operations of a call by convention, and the bytes it must read and write at least.
/// A product counts 2 M N K, a sum or mean one per element. Elsewhere each + - * / max, square
/// root, exp, tanh, erf or normal value counts one per element, counted in the formulas at Op; what
/// is done once per row is left out. Moving data counts nothing. An element that a stride of 0
/// repeats is read once.
struct OpCost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};
OpCost cost_of(const OpCall& call);

}  // namespace trilobite
