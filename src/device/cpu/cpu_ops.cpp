#include "device/cpu/cpu_ops.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "device/dense_input.hpp"
#include "device/matrix_view.hpp"
#include "kernels/convert.hpp"
#include "kernels/copy.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/randn.hpp"
#include "kernels/reduce.hpp"
#include "kernels/rows.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

using kernels::StoreTo;

// Waking the threads and waiting for them takes 2 to 5 us. One core adds or copies about 16,384
// cached elements in that time, and takes a few exponentials or divisions of 4,096.
constexpr size_t kCheapForOne = 32768;
constexpr size_t kCostlyForOne = 8192;
// Pieces end at multiples of this: whole cache lines, pages and blocks of a sum.
constexpr size_t kUnit = kernels::kSumBlock;

size_t count_of(const ConstTensorView& view) { return static_cast<size_t>(view.elements()); }

/// task(begin, end) over [0, count), on one thread when there is little to do.
template <typename Task>
void share_out(CpuWorkspace& workspace, size_t count, size_t enough_for_one, Task&& task) {
  if (count <= enough_for_one) return task(size_t{0}, count);
  workspace.pool.for_range(count, kUnit, task);
}

/// Whole rows of `columns` elements.
template <typename Task>
void share_out_rows(CpuWorkspace& workspace, size_t rows, size_t columns, Task&& task) {
  if (rows == 0 || columns == 0) return;
  if (rows * columns <= kCostlyForOne) return task(size_t{0}, rows);
  workspace.pool.for_range(rows, 1, task);
}

void copy_to(CpuWorkspace& workspace, const ConstTensorView& from, void* to) {
  const size_t rows = kernels::row_count(from);
  const auto copy = [&](size_t begin, size_t end) { kernels::copy_rows(from, begin, end, to); };
  if (from.is_contiguous() && from.elements() > 0) {
    // One long row: cut it, for there may be nothing else to share out.
    const ConstTensorView flat(from.bytes(), from.dtype(), Shape{from.elements(), 1});
    return share_out(workspace, count_of(from), kCheapForOne,
                     [&](size_t begin, size_t end) { kernels::copy_rows(flat, begin, end, to); });
  }
  if (count_of(from) <= kCheapForOne) return copy(0, rows);
  workspace.pool.for_range(rows, kernels::kCopyBlock, copy);
}

/// The elements of input `index` as a dense array: the view itself or a copy.
Result<const std::byte*> dense_input(CpuWorkspace& workspace, const OpCall& call, size_t index) {
  const auto& view = call.inputs[index];
  if (view.is_contiguous()) return view.bytes();
  const size_t bytes = count_of(view) * size_of(view.dtype());
  const auto copy = grown(workspace.dense_copies[index], bytes);
  if (!copy) return fail_from(copy, "copying a strided input");
  copy_to(workspace, view, *copy);
  return *copy;
}

/// Past the caches when what is read and written does not fit into them anyway.
StoreTo where_to_store(const CpuWorkspace& workspace, const OpCall& call) {
  const size_t bytes = count_of(call.out) * size_of(call.out.dtype()) * (1 + call.inputs.size());
  const size_t cache = workspace.cpu.last_level_cache_bytes();
  return cache != 0 && bytes > cache ? StoreTo::memory : StoreTo::cache;
}

Result<void> run_fill(CpuWorkspace& workspace, const OpCall& call) {
  const float value = call.op == Op::ones ? 1.0f : 0.0f;
  share_out(workspace, count_of(call.out), kCheapForOne, [&](size_t begin, size_t end) {
    kernels::fill({.dtype = call.out.dtype(),
                   .value = value,
                   .out = call.out.at(static_cast<int64_t>(begin)),
                   .count = end - begin,
                   .store_to = where_to_store(workspace, call)});
  });
  return {};
}

Result<void> run_randn(CpuWorkspace& workspace, const OpCall& call) {
  share_out(workspace, count_of(call.out), kCostlyForOne, [&](size_t begin, size_t end) {
    std::array<float, 1024> values;
    for (size_t i = begin; i < end; i += values.size()) {
      const size_t count = std::min(values.size(), end - i);
      kernels::randn(
          {.seed = call.seed, .stream = 0, .first = i, .out = values.data(), .count = count});
      kernels::from_f32({.dtype = call.out.dtype(),
                         .from = values.data(),
                         .to = call.out.at(static_cast<int64_t>(i)),
                         .count = count});
    }
  });
  return {};
}

Result<void> run_binary(CpuWorkspace& workspace, const OpCall& call) {
  const auto a = dense_input(workspace, call, 0);
  if (!a) return fail_from(a);
  const auto b = dense_input(workspace, call, 1);
  if (!b) return fail_from(b);
  const size_t element = size_of(call.out.dtype());
  share_out(workspace, count_of(call.out), kCheapForOne, [&](size_t begin, size_t end) {
    kernels::binary({.op = call.op == Op::add ? kernels::Binary::add : kernels::Binary::mul,
                     .dtype = call.out.dtype(),
                     .a = *a + begin * element,
                     .b = *b + begin * element,
                     .out = call.out.bytes() + begin * element,
                     .count = end - begin,
                     .store_to = where_to_store(workspace, call)});
  });
  return {};
}

kernels::Activation activation_of(Op op) {
  switch (op) {
    case Op::relu: return kernels::Activation::relu;
    case Op::gelu_tanh: return kernels::Activation::gelu_tanh;
    case Op::gelu_erf: return kernels::Activation::gelu_erf;
    default: return kernels::Activation::swish;
  }
}

Result<void> run_activation(CpuWorkspace& workspace, const OpCall& call) {
  const auto x = dense_input(workspace, call, 0);
  if (!x) return fail_from(x);
  const size_t element = size_of(call.out.dtype());
  const size_t for_one = call.op == Op::relu ? kCheapForOne : kCostlyForOne;
  share_out(workspace, count_of(call.out), for_one, [&](size_t begin, size_t end) {
    kernels::activation({.op = activation_of(call.op),
                         .dtype = call.out.dtype(),
                         .x = *x + begin * element,
                         .out = call.out.bytes() + begin * element,
                         .count = end - begin,
                         .beta = call.op == Op::swish ? call.beta : 1.0f,
                         .store_to = where_to_store(workspace, call)});
  });
  return {};
}

Result<void> run_sum(CpuWorkspace& workspace, const OpCall& call) {
  const auto x = dense_input(workspace, call, 0);
  if (!x) return fail_from(x);
  const size_t count = count_of(call.inputs[0]);
  auto& blocks = workspace.block_sums;
  blocks.assign((count + kernels::kSumBlock - 1) / kernels::kSumBlock, 0.0);
  share_out(workspace, count, kCheapForOne, [&](size_t begin, size_t end) {
    kernels::sum_blocks({.dtype = call.out.dtype(),
                         .x = *x + begin * size_of(call.out.dtype()),
                         .count = end - begin,
                         .block_sums = blocks.data() + begin / kernels::kSumBlock});
  });
  double sum = 0;
  for (const double block : blocks) sum += block;
  if (call.op == Op::mean) {
    sum = count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
  }
  store_from_float(call.out, 0, static_cast<float>(sum));
  return {};
}

Result<void> run_softmax(CpuWorkspace& workspace, const OpCall& call) {
  const auto x = dense_input(workspace, call, 0);
  if (!x) return fail_from(x);
  const size_t rows = kernels::row_count(call.out);
  const size_t columns = rows == 0 ? 0 : count_of(call.out) / rows;
  const size_t row_bytes = columns * size_of(call.out.dtype());
  share_out_rows(workspace, rows, columns, [&](size_t begin, size_t end) {
    kernels::softmax({.dtype = call.out.dtype(),
                      .x = *x + begin * row_bytes,
                      .out = call.out.bytes() + begin * row_bytes,
                      .rows = end - begin,
                      .columns = columns});
  });
  return {};
}

Result<void> run_norm(CpuWorkspace& workspace, const OpCall& call) {
  std::array<const std::byte*, 3> inputs{};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto input = dense_input(workspace, call, i);
    if (!input) return fail_from(input);
    inputs[i] = *input;
  }
  const size_t rows = kernels::row_count(call.out);
  const size_t columns = rows == 0 ? 0 : count_of(call.out) / rows;
  const size_t row_bytes = columns * size_of(call.out.dtype());
  share_out_rows(workspace, rows, columns, [&](size_t begin, size_t end) {
    const kernels::NormCall part{.dtype = call.out.dtype(),
                                 .x = inputs[0] + begin * row_bytes,
                                 .weight = inputs[1],
                                 .bias = inputs[2],
                                 .out = call.out.bytes() + begin * row_bytes,
                                 .rows = end - begin,
                                 .columns = columns,
                                 .epsilon = call.epsilon};
    call.op == Op::rmsnorm ? kernels::rmsnorm(part) : kernels::layernorm(part);
  });
  return {};
}

Result<void> run_copy(CpuWorkspace& workspace, const OpCall& call) {
  const auto& a = call.inputs[0];
  const size_t rank = a.shape().rank();
  ConstTensorView from = a;
  if (call.op == Op::transpose) from = a.transpose(rank - 2, rank - 1);
  if (call.op == Op::slice) from = a.slice(rank - 1, call.begin, call.end);
  copy_to(workspace, from, call.out.bytes());
  return {};
}

kernels::StridedMatrix strided(const ConstTensorView& matrix) {
  return {matrix.bytes(), matrix.strides()[0], matrix.strides()[1]};
}

Result<void> run_matmul(CpuWorkspace& workspace, const OpCall& call) {
  if (call.out.elements() == 0) return {};
  const ConstTensorView& b = call.inputs[1];
  const bool one_b = b.shape().rank() == 2;
  // One b for every batch: the rows of all batches are the rows of a single product.
  const auto all_rows = one_b ? as_one_matrix(call.inputs[0]) : std::nullopt;
  const ConstTensorView& a = all_rows ? *all_rows : call.inputs[0];
  const int64_t batches = matrix_count(a);
  const int64_t n = call.out.shape()[call.out.shape().rank() - 1];
  const int64_t m = call.out.elements() / (batches * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const DType dtype = call.out.dtype();
    const kernels::GemmCall product{.a_dtype = dtype,
                                    .b_dtype = dtype,
                                    .out_dtype = dtype,
                                    .m = static_cast<size_t>(m),
                                    .n = static_cast<size_t>(n),
                                    .k = static_cast<size_t>(a.shape()[a.shape().rank() - 1]),
                                    .a = strided(matrix_at(a, batch)),
                                    .b = strided(matrix_at(b, one_b ? 0 : batch)),
                                    .out = call.out.at(batch * m * n)};
    if (auto done = workspace.gemm.run(product); !done) return done;
  }
  return {};
}

struct OpEntry {
  std::string_view kernel;
  Result<void> (*run)(CpuWorkspace&, const OpCall&);
};

const OpEntry& entry_of(Op op) {
  static constexpr OpEntry kFill{"fill", run_fill}, kRandn{"randn", run_randn},
      kAdd{"add", run_binary}, kMul{"mul", run_binary}, kGemm{"gemm", run_matmul},
      kSum{"sum", run_sum}, kSoftmax{"softmax", run_softmax}, kCopy{"copy", run_copy},
      kRelu{"relu", run_activation}, kGeluTanh{"gelu_tanh", run_activation},
      kGeluErf{"gelu_erf", run_activation}, kSwish{"swish", run_activation},
      kRmsnorm{"rmsnorm", run_norm}, kLayernorm{"layernorm", run_norm};
  switch (op) {
    case Op::zeros:
    case Op::ones: return kFill;
    case Op::randn: return kRandn;
    case Op::add: return kAdd;
    case Op::mul: return kMul;
    case Op::matmul: return kGemm;
    case Op::sum:
    case Op::mean: return kSum;
    case Op::softmax: return kSoftmax;
    case Op::transpose:
    case Op::reshape:
    case Op::slice: return kCopy;
    case Op::relu: return kRelu;
    case Op::gelu_tanh: return kGeluTanh;
    case Op::gelu_erf: return kGeluErf;
    case Op::silu:
    case Op::swish: return kSwish;
    case Op::rmsnorm: return kRmsnorm;
    case Op::layernorm: return kLayernorm;
  }
  std::unreachable();
}

}  // namespace

Result<std::string_view> run_cpu_op(CpuWorkspace& workspace, const OpCall& call) {
  const OpEntry& entry = entry_of(call.op);
  if (const auto done = entry.run(workspace, call); !done) return fail_from(done);
  return call.op == Op::matmul ? workspace.gemm.last_kernel() : entry.kernel;
}

}  // namespace trilobite
