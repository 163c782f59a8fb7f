#include "device/eigen/eigen_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "base/cpu_info.hpp"
#include "base/thread_pool.hpp"
#include "device/dense_input.hpp"
#include "device/eigen/eigen_kernels.hpp"
#include "device/isa_level.hpp"
#include "device/matrix_view.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

/// Smaller pieces cost more to hand to another thread than to compute.
constexpr size_t kGrainElements = 4096;
/// Below this many multiplications, about 10 us, a product stays on one thread.
constexpr int64_t kSmallProduct = int64_t{64} * 64 * 64;

EigenType type_of(DType dtype) {
  if (dtype == DType::f16) return EigenType::f16;
  return dtype == DType::bf16 ? EigenType::bf16 : EigenType::f32;
}

/// A view of rank 0 or 1 as a matrix of one row; others as they are.
ConstTensorView at_least_matrix(const ConstTensorView& view) {
  const size_t rank = view.shape().rank();
  if (rank >= 2) return view;
  const int64_t stride = rank == 1 ? view.strides()[0] : 1;
  return {view.bytes(), view.dtype(), {1, view.elements()}, {view.elements() * stride, stride}};
}

bool runs_backward(const ConstTensorView& view) {
  const auto& strides = view.strides();
  return std::any_of(strides.begin(), strides.begin() + static_cast<int64_t>(view.shape().rank()),
                     [](int64_t stride) { return stride < 0; });
}

EigenMatrix eigen_matrix(const ConstTensorView& matrix) {
  const auto layout = layout_of_readable(matrix);
  return {.data = matrix.data<float>(),
          .rows = matrix.shape()[0],
          .columns = matrix.shape()[1],
          .leading = layout.leading,
          .transposed = layout.transposed};
}

EigenMatrix rows_of(EigenMatrix matrix, size_t begin, size_t end) {
  matrix.data += static_cast<int64_t>(begin) * (matrix.transposed ? 1 : matrix.leading);
  matrix.rows = static_cast<int64_t>(end - begin);
  return matrix;
}

EigenMatrix columns_of(EigenMatrix matrix, size_t begin, size_t end) {
  matrix.data += static_cast<int64_t>(begin) * (matrix.transposed ? matrix.leading : 1);
  matrix.columns = static_cast<int64_t>(end - begin);
  return matrix;
}

class EigenDevice final : public Device {
 public:
  EigenDevice(const EigenKernels& kernels, unsigned threads) : kernels_(kernels), pool_(threads) {}

  std::string_view name() const override { return "eigen"; }
  std::string description() const override;
  std::string why_unsupported(Op op, DType dtype) const override;
  Result<void> run(const OpCall& call) override;

 private:
  void fill(const OpCall& call, float value);
  Result<void> combine(const OpCall& call, EigenKernels::Binary kernel);
  Result<void> map(const OpCall& call, EigenKernels::Unary kernel, float beta = 1);
  Result<void> on_rows(const OpCall& call, EigenKernels::OnRows kernel);
  Result<void> sum(const OpCall& call);
  Result<void> move(const OpCall& call, ConstTensorView from);
  Result<void> matmul(const OpCall& call);
  Result<ConstTensorView> product_input(const ConstTensorView& input, size_t slot);
  void multiply_all(const ConstTensorView& a, const ConstTensorView& b, float* out);
  void multiply_split(const EigenMatrix& a, const EigenMatrix& b, float* out);

  const EigenKernels& kernels_;
  ThreadPool pool_;
  std::array<DenseInput, 3> dense_;       // copies of inputs with gaps
  std::array<AlignedBuffer, 3> widened_;  // a, b and the answer of a 16-bit product in f32
};

std::string EigenDevice::description() const {
  return fmt::format("Eigen {}, {}, {} thread{}; 16-bit types are computed in f32",
                     TRILOBITE_EIGEN_VERSION, kernels_.instruction_set, pool_.threads(),
                     pool_.threads() == 1 ? "" : "s");
}

std::string EigenDevice::why_unsupported(Op op, DType dtype) const {
  if (op == Op::randn) return "Eigen has no generator of normal values";
  return why_undefined(op, dtype);
}

Result<void> EigenDevice::run(const OpCall& call) {
  if (auto supported = check_supported(call); !supported) return supported;
  if (compute_if_empty(call)) return {};
  count_kernel(fmt::format("eigen/{}", name_of(call.op)));
  const auto& k = kernels_;
  const auto last = call.inputs.empty() ? 0 : call.inputs[0].shape().rank() - 1;
  switch (call.op) {
    case Op::zeros: fill(call, 0); return {};
    case Op::ones: fill(call, 1); return {};
    case Op::add: return combine(call, k.add);
    case Op::mul: return combine(call, k.mul);
    case Op::matmul: return matmul(call);
    case Op::sum:
    case Op::mean: return sum(call);
    case Op::softmax: return on_rows(call, k.softmax);
    case Op::rmsnorm: return on_rows(call, k.rmsnorm);
    case Op::layernorm: return on_rows(call, k.layernorm);
    case Op::transpose: return move(call, call.inputs[0].transpose(last - 1, last));
    case Op::reshape: return move(call, call.inputs[0]);
    case Op::slice: return move(call, call.inputs[0].slice(last, call.begin, call.end));
    case Op::relu: return map(call, k.relu);
    case Op::gelu_tanh: return map(call, k.gelu_tanh);
    case Op::gelu_erf: return map(call, k.gelu_erf);
    case Op::silu: return map(call, k.swish);
    case Op::swish: return map(call, k.swish, call.beta);
    case Op::randn: break;  // check_supported has refused it
  }
  std::unreachable();
}

void EigenDevice::fill(const OpCall& call, float value) {
  const auto type = type_of(call.out.dtype());
  pool_.for_range(static_cast<size_t>(call.out.elements()), kGrainElements,
                  [&](size_t begin, size_t end) {
                    kernels_.fill(type, value, static_cast<int64_t>(end - begin),
                                  call.out.at(static_cast<int64_t>(begin)));
                  });
}

Result<void> EigenDevice::combine(const OpCall& call, EigenKernels::Binary kernel) {
  const auto a = dense_[0].of(call.inputs[0]);
  const auto b = dense_[1].of(call.inputs[1]);
  if (!a) return fail_from(a);
  if (!b) return fail_from(b);
  const auto type = type_of(call.out.dtype());
  pool_.for_range(static_cast<size_t>(call.out.elements()), kGrainElements,
                  [&](size_t begin, size_t end) {
                    const auto first = static_cast<int64_t>(begin);
                    kernel(type, a->at(first), b->at(first), static_cast<int64_t>(end - begin),
                           call.out.at(first));
                  });
  return {};
}

Result<void> EigenDevice::map(const OpCall& call, EigenKernels::Unary kernel, float beta) {
  const auto x = dense_[0].of(call.inputs[0]);
  if (!x) return fail_from(x);
  const auto type = type_of(call.out.dtype());
  pool_.for_range(
      static_cast<size_t>(call.out.elements()), kGrainElements, [&](size_t begin, size_t end) {
        const auto first = static_cast<int64_t>(begin);
        kernel(type, x->at(first), static_cast<int64_t>(end - begin), beta, call.out.at(first));
      });
  return {};
}

Result<void> EigenDevice::on_rows(const OpCall& call, EigenKernels::OnRows kernel) {
  std::array<const void*, 3> inputs{};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto input = dense_[i].of(call.inputs[i]);
    if (!input) return fail_from(input);
    inputs[i] = input->bytes();
  }
  const int64_t columns = call.out.shape()[call.out.shape().rank() - 1];
  const auto rows = static_cast<size_t>(call.out.elements() / columns);
  const size_t grain = std::max(size_t{1}, kGrainElements / static_cast<size_t>(columns));
  pool_.for_range(rows, grain, [&](size_t begin, size_t end) {
    const auto first = static_cast<int64_t>(begin) * columns;
    kernel({.type = type_of(call.out.dtype()),
            .x = ConstTensorView(static_cast<const std::byte*>(inputs[0]), call.out.dtype(), {0})
                     .at(first),
            .weight = inputs[1],
            .bias = inputs[2],
            .rows = static_cast<int64_t>(end - begin),
            .columns = columns,
            .epsilon = call.epsilon,
            .out = call.out.at(first)});
  });
  return {};
}

Result<void> EigenDevice::sum(const OpCall& call) {
  const auto x = dense_[0].of(call.inputs[0]);
  if (!x) return fail_from(x);
  // A slot per piece, added in their order: the answer depends on the thread count only.
  const auto count = static_cast<size_t>(x->elements());
  const size_t piece = std::max(kGrainElements, (count + pool_.threads() - 1) / pool_.threads());
  std::vector<float> sums((count + piece - 1) / piece);
  pool_.for_range(sums.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      sums[i] = kernels_.sum(type_of(x->dtype()), x->at(static_cast<int64_t>(i * piece)),
                             static_cast<int64_t>(std::min(piece, count - i * piece)));
    }
  });
  const float total = std::accumulate(sums.begin(), sums.end(), 0.0f);
  const float answer = call.op == Op::mean ? total / static_cast<float>(count) : total;
  kernels_.narrow(type_of(call.out.dtype()), &answer, 1, call.out.bytes());
  return {};
}

Result<void> EigenDevice::move(const OpCall& call, ConstTensorView from) {
  if (runs_backward(from)) {
    const auto copy = dense_[0].of(from);
    if (!copy) return fail_from(copy);
    from = *copy;
  }
  from = at_least_matrix(from);
  const auto rows = static_cast<size_t>(from.shape()[from.shape().rank() - 2]);
  const int64_t columns = from.shape()[from.shape().rank() - 1];
  const size_t grain = std::max(size_t{1}, kGrainElements / static_cast<size_t>(columns));
  for (int64_t i = 0; i < matrix_count(from); ++i) {
    const auto matrix = matrix_at(from, i);
    pool_.for_range(rows, grain, [&](size_t begin, size_t end) {
      const auto first = static_cast<int64_t>(begin);
      kernels_.move({.type = type_of(call.out.dtype()),
                     .from = matrix.at(first * matrix.strides()[0]),
                     .rows = static_cast<int64_t>(end - begin),
                     .columns = columns,
                     .row_stride = matrix.strides()[0],
                     .column_stride = matrix.strides()[1],
                     .to = call.out.at((i * static_cast<int64_t>(rows) + first) * columns)});
    });
  }
  return {};
}

/// The input in f32 with dense rows or columns: itself, or a copy.
Result<ConstTensorView> EigenDevice::product_input(const ConstTensorView& input, size_t slot) {
  const bool readable = matrix_layout(matrix_at(input, 0)).has_value();
  if (input.dtype() == DType::f32 && readable) return input;
  const auto dense = dense_[slot].of(input);
  if (!dense || input.dtype() == DType::f32) return dense;
  const auto count = static_cast<size_t>(input.elements());
  const auto memory = grown(widened_[slot], count * sizeof(float));
  if (!memory) return fail_from(memory);
  auto* wide = reinterpret_cast<float*>(*memory);
  pool_.for_range(count, kGrainElements, [&](size_t begin, size_t end) {
    kernels_.widen(type_of(input.dtype()), dense->at(static_cast<int64_t>(begin)),
                   static_cast<int64_t>(end - begin), wide + begin);
  });
  return ConstTensorView(*memory, DType::f32, input.shape());
}

Result<void> EigenDevice::matmul(const OpCall& call) {
  auto a = product_input(call.inputs[0], 0);
  const auto b = product_input(call.inputs[1], 1);
  if (!a) return fail_from(a);
  if (!b) return fail_from(b);
  if (b->shape().rank() == 2) {
    if (const auto one = as_one_matrix(*a); one && matrix_layout(*one)) a = *one;
  }
  if (call.out.dtype() == DType::f32) {
    multiply_all(*a, *b, call.out.data<float>());
    return {};
  }
  const auto count = static_cast<size_t>(call.out.elements());
  const auto memory = grown(widened_[2], count * sizeof(float));
  if (!memory) return fail_from(memory);
  auto* wide = reinterpret_cast<float*>(*memory);
  multiply_all(*a, *b, wide);
  pool_.for_range(count, kGrainElements, [&](size_t begin, size_t end) {
    kernels_.narrow(type_of(call.out.dtype()), wide + begin, static_cast<int64_t>(end - begin),
                    call.out.at(static_cast<int64_t>(begin)));
  });
  return {};
}

void EigenDevice::multiply_all(const ConstTensorView& a, const ConstTensorView& b, float* out) {
  const int64_t products = matrix_count(a);
  const auto operands = [&](int64_t i) {
    return std::pair(eigen_matrix(matrix_at(a, i)),
                     eigen_matrix(b.shape().rank() == 2 ? b : matrix_at(b, i)));
  };
  if (products == 1) {
    const auto [left, right] = operands(0);
    return multiply_split(left, right, out);
  }
  pool_.for_range(static_cast<size_t>(products), 1, [&](size_t begin, size_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const auto [left, right] = operands(i);
      kernels_.multiply(left, right, out + i * left.rows * right.columns, right.columns);
    }
  });
}

/// Cuts the longer side of the answer, so that the threads' pieces are as square as possible.
void EigenDevice::multiply_split(const EigenMatrix& a, const EigenMatrix& b, float* out) {
  if (a.rows * a.columns * b.columns < kSmallProduct) {
    return kernels_.multiply(a, b, out, b.columns);
  }
  // Eigen's register blocks are up to 12 rows of up to 4 vectors; 16 keeps the pieces' ends whole.
  constexpr size_t kGrain = 16;
  if (a.rows >= b.columns) {
    pool_.for_range(static_cast<size_t>(a.rows), kGrain, [&](size_t begin, size_t end) {
      kernels_.multiply(rows_of(a, begin, end), b, out + static_cast<int64_t>(begin) * b.columns,
                        b.columns);
    });
  } else {
    pool_.for_range(static_cast<size_t>(b.columns), kGrain, [&](size_t begin, size_t end) {
      kernels_.multiply(a, columns_of(b, begin, end), out + begin, b.columns);
    });
  }
}

const EigenKernels& kernels_for([[maybe_unused]] IsaLevel level) {
#if defined(__x86_64__)
  if (level >= IsaLevel::avx3) return eigen_kernels_avx512;
  if (level >= IsaLevel::avx2) return eigen_kernels_avx2;
#endif
  return eigen_kernels_baseline;
}

}  // namespace

std::string why_no_eigen() { return ""; }

Result<std::unique_ptr<Device>> open_eigen_device(const DeviceOptions& options) {
  const auto level = choose_level(options.isa, read_cpu_info());
  if (!level) return fail_from(level);
  return std::make_unique<EigenDevice>(kernels_for(*level), options.threads);
}

}  // namespace trilobite
