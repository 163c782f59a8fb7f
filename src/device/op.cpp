#include "device/op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace trilobite {
namespace {

struct OpFacts {
  Op op;
  std::string_view name;
  size_t inputs;
  double flops_per_element;  // of the output (elementwise, rows) or of the input (sum, mean)
};

// clang-format off
constexpr std::array<OpFacts, 19> kOps{{
    {Op::zeros,     "zeros",     0, 0},
    {Op::ones,      "ones",      0, 0},
    {Op::randn,     "randn",     0, 1},
    {Op::add,       "add",       2, 1},
    {Op::mul,       "mul",       2, 1},
    {Op::matmul,    "matmul",    2, 0},  // 2 K, see cost_of
    {Op::sum,       "sum",       1, 1},
    {Op::mean,      "mean",      1, 1},
    {Op::softmax,   "softmax",   1, 5},  // max, -, exp, sum, /
    {Op::transpose, "transpose", 1, 0},
    {Op::reshape,   "reshape",   1, 0},
    {Op::slice,     "slice",     1, 0},
    {Op::relu,      "relu",      1, 1},
    {Op::gelu_tanh, "gelu_tanh", 1, 9},  // cube 2, *, +, *, tanh, +, *, *
    {Op::gelu_erf,  "gelu_erf",  1, 5},  // *, erf, +, *, *
    {Op::silu,      "silu",      1, 3},  // exp, +, /
    {Op::swish,     "swish",     1, 4},  // *, exp, +, /
    {Op::rmsnorm,   "rmsnorm",   2, 4},  // square, sum, *, *
    {Op::layernorm, "layernorm", 3, 7},  // sum, -, square, sum, *, *, +
}};
// clang-format on

constexpr std::array<Op, kOps.size()> op_list() {
  std::array<Op, kOps.size()> list{};
  for (size_t i = 0; i < list.size(); ++i) list[i] = kOps[i].op;
  return list;
}
constexpr std::array<Op, kOps.size()> kAllOps = op_list();
constexpr std::array kDTypes{DType::f32, DType::f16, DType::bf16};

const OpFacts& facts_of(Op op) {
  const auto& facts = kOps[static_cast<size_t>(op)];
  TRILOBITE_CHECK(facts.op == op);
  return facts;
}

std::unexpected<Error> wrong(const OpCall& call, std::string_view what) {
  return fail(fmt::format("{}: {}", name_of(call.op), what));
}

Result<void> check_types(const OpCall& call) {
  if (call.inputs.size() != input_count(call.op)) {
    return wrong(call,
                 fmt::format("takes {} inputs, got {}", input_count(call.op), call.inputs.size()));
  }
  const DType dtype = call.out.dtype();
  if (auto reason = why_undefined(call.op, dtype); !reason.empty()) return fail(std::move(reason));
  for (const auto& input : call.inputs) {
    if (input.dtype() == dtype) continue;
    return wrong(call, fmt::format("the output is {} but an input is {}; convert one of them",
                                   name_of(dtype), name_of(input.dtype())));
  }
  return {};
}

Result<void> check_rank(const OpCall& call, size_t minimum) {
  const Shape& shape = call.inputs[0].shape();
  if (shape.rank() >= minimum) return {};
  return wrong(call, fmt::format("needs at least {} dimension{}, got {}", minimum,
                                 minimum == 1 ? "" : "s", shape.to_string()));
}

Result<Shape> same_shape(const OpCall& call) {
  const Shape& a = call.inputs[0].shape();
  const Shape& b = call.inputs[1].shape();
  if (a == b) return a;
  return wrong(call, fmt::format("the inputs are {} and {}; they must have the same shape",
                                 a.to_string(), b.to_string()));
}

Result<Shape> product_shape(const OpCall& call) {
  const Shape& a = call.inputs[0].shape();
  const Shape& b = call.inputs[1].shape();
  const auto misfit = [&](std::string_view why) {
    return wrong(call, fmt::format("{} times {}: {}", a.to_string(), b.to_string(), why));
  };
  if (a.rank() < 2 || b.rank() < 2) return misfit("both need at least 2 dimensions");
  if (b.rank() != 2 && b.rank() != a.rank()) {
    return misfit("the second must have 2 dimensions or as many as the first");
  }
  if (a[a.rank() - 1] != b[b.rank() - 2]) return misfit("the inner dimensions differ");
  const size_t batch_dims = a.rank() - 2;
  for (size_t i = 0; b.rank() > 2 && i < batch_dims; ++i) {
    if (a[i] != b[i]) return misfit("the batch dimensions differ");
  }
  std::vector<int64_t> extents(a.extents().begin(), a.extents().end());
  extents.back() = b[b.rank() - 1];
  return Shape::from(extents);
}

Result<Shape> slice_shape(const OpCall& call) {
  if (auto ranked = check_rank(call, 1); !ranked) return fail_from(ranked);
  const Shape& shape = call.inputs[0].shape();
  const int64_t extent = shape[shape.rank() - 1];
  if (call.begin < 0 || call.begin > call.end || call.end > extent) {
    return wrong(call, fmt::format("[{}, {}) is not within the last dimension of {}", call.begin,
                                   call.end, shape.to_string()));
  }
  std::vector<int64_t> extents(shape.extents().begin(), shape.extents().end());
  extents.back() = call.end - call.begin;
  return Shape::from(extents);
}

Result<Shape> reshape_shape(const OpCall& call) {
  const Shape& from = call.inputs[0].shape();
  const Shape& to = call.out.shape();
  if (from.elements() == to.elements()) return to;
  return wrong(call, fmt::format("{} has {} elements, {} has {}", from.to_string(), from.elements(),
                                 to.to_string(), to.elements()));
}

/// softmax and the norms: the shape of x; weight and bias hold one value per column.
Result<Shape> row_shape(const OpCall& call) {
  if (auto ranked = check_rank(call, 1); !ranked) return fail_from(ranked);
  const Shape& shape = call.inputs[0].shape();
  const Shape per_column{shape[shape.rank() - 1]};
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].shape() == per_column) continue;
    return wrong(call, fmt::format("the {} of rows of {} must be {}, got {}",
                                   i == 1 ? "weight" : "bias", shape.to_string(),
                                   per_column.to_string(), call.inputs[i].shape().to_string()));
  }
  return shape;
}

Result<void> check_parameters(const OpCall& call) {
  const bool norm = call.op == Op::rmsnorm || call.op == Op::layernorm;
  if (norm && !(std::isfinite(call.epsilon) && call.epsilon >= 0)) {
    return wrong(call,
                 fmt::format("epsilon must be finite and not negative, got {}", call.epsilon));
  }
  if (call.op == Op::swish && !std::isfinite(call.beta)) {
    return wrong(call, fmt::format("beta must be finite, got {}", call.beta));
  }
  return {};
}

/// The bytes from the first to the last element in memory.
std::pair<const std::byte*, const std::byte*> byte_range(const ConstTensorView& view) {
  int64_t low = 0;
  int64_t high = 1;
  for (size_t i = 0; i < view.shape().rank(); ++i) {
    const int64_t reach = (view.shape()[i] - 1) * view.strides()[i];
    (reach < 0 ? low : high) += reach;
  }
  return {view.at(low), view.at(high)};
}

Result<void> check_memory(const OpCall& call) {
  if (!call.out.is_contiguous()) return wrong(call, "the output must be dense and row-major");
  if (call.out.elements() > 0 && call.out.bytes() == nullptr) {
    return wrong(call, "the output has no memory");
  }
  for (const auto& input : call.inputs) {
    if (input.elements() == 0) continue;
    if (input.bytes() == nullptr) return wrong(call, "an input has no memory");
    if (call.out.elements() == 0) continue;
    const auto [in_begin, in_end] = byte_range(input);
    const auto [out_begin, out_end] = byte_range(call.out);
    if (in_begin < out_end && out_begin < in_end) {
      return wrong(call, "the output overlaps an input; it needs memory of its own");
    }
  }
  return {};
}

/// Elements of the view that are different places in memory.
double distinct_elements(const ConstTensorView& view) {
  double count = 1;
  for (size_t i = 0; i < view.shape().rank(); ++i) {
    const bool repeated = view.strides()[i] == 0 && view.shape()[i] > 1;
    if (!repeated) count *= static_cast<double>(view.shape()[i]);
  }
  return count;
}

}  // namespace

std::span<const Op> all_ops() { return kAllOps; }

std::span<const DType> op_dtypes() { return kDTypes; }

std::string_view name_of(Op op) { return facts_of(op).name; }

std::optional<Op> op_from_name(std::string_view name) {
  for (const auto& facts : kOps) {
    if (facts.name == name) return facts.op;
  }
  return std::nullopt;
}

size_t input_count(Op op) { return facts_of(op).inputs; }

std::string why_undefined(Op op, DType dtype) {
  if (std::ranges::find(kDTypes, dtype) != kDTypes.end()) return "";
  return fmt::format("{}: works on f32, f16 and bf16, not on {}", name_of(op), name_of(dtype));
}

Result<Shape> output_shape(const OpCall& call) {
  if (auto typed = check_types(call); !typed) return fail_from(typed);
  switch (call.op) {
    case Op::zeros:
    case Op::ones:
    case Op::randn: return call.out.shape();
    case Op::add:
    case Op::mul: return same_shape(call);
    case Op::matmul: return product_shape(call);
    case Op::sum:
    case Op::mean: return Shape();
    case Op::transpose:
      if (auto ranked = check_rank(call, 2); !ranked) return fail_from(ranked);
      return call.inputs[0]
          .transpose(call.inputs[0].shape().rank() - 2, call.inputs[0].shape().rank() - 1)
          .shape();
    case Op::reshape: return reshape_shape(call);
    case Op::slice: return slice_shape(call);
    case Op::softmax:
    case Op::rmsnorm:
    case Op::layernorm: return row_shape(call);
    case Op::relu:
    case Op::gelu_tanh:
    case Op::gelu_erf:
    case Op::silu:
    case Op::swish: return call.inputs[0].shape();
  }
  std::unreachable();
}

Result<void> check_call(const OpCall& call) {
  auto shape = output_shape(call);
  if (!shape) return fail_from(shape);
  if (*shape != call.out.shape()) {
    return wrong(call, fmt::format("the output must be {}, got {}", shape->to_string(),
                                   call.out.shape().to_string()));
  }
  if (auto checked = check_parameters(call); !checked) return checked;
  return check_memory(call);
}

OpCost cost_of(const OpCall& call) {
  const auto written = static_cast<double>(call.out.elements());
  const auto element_bytes = static_cast<double>(size_of(call.out.dtype()));
  OpCost cost{.flops = facts_of(call.op).flops_per_element * written,
              .bytes_written = written * element_bytes};
  for (const auto& input : call.inputs) cost.bytes_read += distinct_elements(input) * element_bytes;
  if (call.op == Op::slice) cost.bytes_read = cost.bytes_written;
  if (call.op == Op::sum || call.op == Op::mean) {
    cost.flops = static_cast<double>(call.inputs[0].elements());
  }
  if (call.op == Op::matmul) {
    const Shape& a = call.inputs[0].shape();
    cost.flops = 2 * written * static_cast<double>(a[a.rank() - 1]);
  }
  return cost;
}

}  // namespace trilobite
