#include "device/openblas/openblas_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "device/dense_input.hpp"
#include "device/matrix_view.hpp"
#include "device/openblas/openblas_library.hpp"

namespace trilobite {
namespace {

/// Vectors longer than 32-bit indices reach are cut into pieces of this many elements.
constexpr int64_t kPiece = int64_t{1} << 30;

/// Stacks of matrices that matrix_layout accepts; `out` is dense.
struct Operands {
  ConstTensorView a;
  ConstTensorView b;
  float* out;
};

/// One product of one matrix each, in the numbers that CBLAS takes.
struct Product {
  int m, n, k;
  ConstTensorView a;
  ConstTensorView b;
  MatrixLayout a_layout;
  MatrixLayout b_layout;
  float* out;
};

CblasTranspose flag_of(const MatrixLayout& layout) {
  return layout.transposed ? kCblasTrans : kCblasNoTrans;
}

bool fits_int(int64_t value) { return value <= std::numeric_limits<int>::max(); }

std::unexpected<Error> too_large() {
  return fail("OpenBLAS takes matrices of up to 2^31 - 1 rows, columns and strides");
}

class OpenblasDevice final : public Device {
 public:
  OpenblasDevice(OpenblasLibrary library, unsigned threads)
      : library_(std::move(library)), blas_(library_.functions), threads_(threads) {}

  std::string_view name() const override { return "openblas"; }
  std::string description() const override;
  std::string why_unsupported(Op op, DType dtype) const override;
  Result<void> run(const OpCall& call) override;

 private:
  Result<void> add(const OpCall& call);
  Result<void> sum(const OpCall& call);
  Result<void> transpose(const OpCall& call);
  Result<void> matmul(const OpCall& call);
  Result<void> multiply(const Operands& operands);
  void multiply_one(const Product& product);

  OpenblasLibrary library_;
  const OpenblasFunctions& blas_;
  unsigned threads_;
  DenseInput dense_[2];      // copies of inputs that CBLAS cannot read in place
  AlignedBuffer bf16_sums_;  // sbgemm answers in f32
};

std::string OpenblasDevice::description() const {
  const std::string core = blas_.get_corename();
  const auto& wanted = library_.wanted_core;
  const std::string doubt =
      wanted.empty() || wanted == core ? "" : fmt::format(" (not {}, which was asked for)", wanted);
  return fmt::format("{}, {} kernels{}, {} thread{}", blas_.get_config(), core, doubt, threads_,
                     threads_ == 1 ? "" : "s");
}

std::string OpenblasDevice::why_unsupported(Op op, DType dtype) const {
  if (auto reason = why_undefined(op, dtype); !reason.empty()) return reason;
  const bool has_op = op == Op::matmul || op == Op::add || op == Op::transpose ||
                      ((op == Op::sum || op == Op::mean) && blas_.ssum != nullptr);
  if (!has_op) return fmt::format("OpenBLAS has no {}", name_of(op));
  if ((op == Op::sum || op == Op::mean) && library_.ssum_is_wrong) {
    return fmt::format("the {} kernels of this OpenBLAS sum wrongly", blas_.get_corename());
  }
  if (dtype == DType::f32) return "";
  if (op == Op::matmul && dtype == DType::bf16 && blas_.sbgemm != nullptr) return "";
  return fmt::format("this OpenBLAS has no {} for {}", name_of(op), name_of(dtype));
}

Result<void> OpenblasDevice::run(const OpCall& call) {
  if (auto supported = check_supported(call); !supported) return supported;
  if (compute_if_empty(call)) return {};
  // The count belongs to the process, and another device may have changed it.
  if (blas_.get_num_threads() != static_cast<int>(threads_)) {
    blas_.set_num_threads(static_cast<int>(threads_));
  }
  switch (call.op) {
    case Op::add: return add(call);
    case Op::sum:
    case Op::mean: return sum(call);
    case Op::transpose: return transpose(call);
    case Op::matmul: return matmul(call);
    default: std::unreachable();  // check_supported has refused the others
  }
}

Result<void> OpenblasDevice::add(const OpCall& call) {
  auto a = dense_[0].of(call.inputs[0]);
  auto b = dense_[1].of(call.inputs[1]);
  if (!a) return fail_from(a);
  if (!b) return fail_from(b);
  count_kernel("openblas/scopy+saxpy");
  const int64_t count = call.out.elements();
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const auto piece = static_cast<int>(std::min(kPiece, count - begin));
    float* out = call.out.data<float>() + begin;
    blas_.scopy(piece, a->data<float>() + begin, 1, out, 1);
    blas_.saxpy(piece, 1.0f, b->data<float>() + begin, 1, out, 1);
  }
  return {};
}

Result<void> OpenblasDevice::sum(const OpCall& call) {
  auto x = dense_[0].of(call.inputs[0]);
  if (!x) return fail_from(x);
  count_kernel("openblas/ssum");
  const int64_t count = x->elements();
  float sum = 0;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const auto piece = static_cast<int>(std::min(kPiece, count - begin));
    sum += blas_.ssum(piece, x->data<float>() + begin, 1);
  }
  *call.out.data<float>() = call.op == Op::mean ? sum / static_cast<float>(count) : sum;
  return {};
}

Result<void> OpenblasDevice::transpose(const OpCall& call) {
  const auto& input = call.inputs[0];
  const bool readable = matrix_layout(matrix_at(input, 0)).has_value();
  auto a = readable ? Result<ConstTensorView>(input) : dense_[0].of(input);
  if (!a) return fail_from(a);
  count_kernel("openblas/somatcopy");
  const int64_t matrix_elements = call.out.elements() / matrix_count(*a);
  for (int64_t i = 0; i < matrix_count(*a); ++i) {
    const auto matrix = matrix_at(*a, i);
    const auto layout = layout_of_readable(matrix);
    // Rows of what is in memory: a transposed view holds its columns there.
    const int64_t rows = matrix.shape()[layout.transposed ? 1 : 0];
    const int64_t columns = matrix.shape()[layout.transposed ? 0 : 1];
    if (!fits_int(rows) || !fits_int(columns) || !fits_int(layout.leading)) return too_large();
    blas_.somatcopy(kCblasRowMajor, layout.transposed ? kCblasNoTrans : kCblasTrans,
                    static_cast<int>(rows), static_cast<int>(columns), 1.0f, matrix.data<float>(),
                    static_cast<int>(layout.leading), call.out.data<float>() + i * matrix_elements,
                    static_cast<int>(layout.transposed ? columns : rows));
  }
  return {};
}

Result<void> OpenblasDevice::matmul(const OpCall& call) {
  Operands operands{.a = call.inputs[0], .b = call.inputs[1], .out = call.out.data<float>()};
  if (!matrix_layout(matrix_at(operands.a, 0))) {
    auto copy = dense_[0].of(operands.a);
    if (!copy) return fail_from(copy);
    operands.a = *copy;
  }
  if (!matrix_layout(matrix_at(operands.b, 0))) {
    auto copy = dense_[1].of(operands.b);
    if (!copy) return fail_from(copy);
    operands.b = *copy;
  }
  if (operands.b.shape().rank() == 2) {
    if (const auto one = as_one_matrix(operands.a); one && matrix_layout(*one)) operands.a = *one;
  }
  if (call.out.dtype() == DType::f32) return multiply(operands);
  const auto count = static_cast<size_t>(call.out.elements());
  auto sums = grown(bf16_sums_, count * sizeof(float));
  if (!sums) return fail_from(sums);
  operands.out = reinterpret_cast<float*>(*sums);
  if (auto done = multiply(operands); !done) return done;
  for (size_t i = 0; i < count; ++i) {
    call.out.data<BFloat16>()[i] = BFloat16::from(operands.out[i]);
  }
  return {};
}

Result<void> OpenblasDevice::multiply(const Operands& operands) {
  for (int64_t i = 0; i < matrix_count(operands.a); ++i) {
    const auto a = matrix_at(operands.a, i);
    const auto b = operands.b.shape().rank() == 2 ? operands.b : matrix_at(operands.b, i);
    const auto a_layout = layout_of_readable(a);
    const auto b_layout = layout_of_readable(b);
    const int64_t m = a.shape()[0];
    const int64_t n = b.shape()[1];
    const int64_t k = a.shape()[1];
    if (!std::ranges::all_of(std::array{m, n, k, a_layout.leading, b_layout.leading}, fits_int)) {
      return too_large();
    }
    multiply_one({.m = static_cast<int>(m),
                  .n = static_cast<int>(n),
                  .k = static_cast<int>(k),
                  .a = a,
                  .b = b,
                  .a_layout = a_layout,
                  .b_layout = b_layout,
                  .out = operands.out + i * m * n});
  }
  return {};
}

void OpenblasDevice::multiply_one(const Product& p) {
  const auto lda = static_cast<int>(p.a_layout.leading);
  const auto ldb = static_cast<int>(p.b_layout.leading);
  if (p.a.dtype() == DType::bf16) {
    count_kernel("openblas/sbgemm");
    blas_.sbgemm(kCblasRowMajor, flag_of(p.a_layout), flag_of(p.b_layout), p.m, p.n, p.k, 1.0f,
                 p.a.data<uint16_t>(), lda, p.b.data<uint16_t>(), ldb, 0.0f, p.out, p.n);
  } else if (p.m == 1) {
    // One row times a matrix, the step of a decoder: sgemm would pack the whole matrix for it.
    // Without packing, the product is the transposed matrix times the row as a column.
    count_kernel("openblas/sgemv");
    const bool stored_as_rows = !p.b_layout.transposed;
    blas_.sgemv(kCblasRowMajor, stored_as_rows ? kCblasTrans : kCblasNoTrans,
                stored_as_rows ? p.k : p.n, stored_as_rows ? p.n : p.k, 1.0f, p.b.data<float>(),
                ldb, p.a.data<float>(), p.a_layout.transposed ? lda : 1, 0.0f, p.out, 1);
  } else {
    count_kernel("openblas/sgemm");
    blas_.sgemm(kCblasRowMajor, flag_of(p.a_layout), flag_of(p.b_layout), p.m, p.n, p.k, 1.0f,
                p.a.data<float>(), lda, p.b.data<float>(), ldb, 0.0f, p.out, p.n);
  }
}

}  // namespace

Result<std::unique_ptr<Device>> open_openblas_device(const DeviceOptions& options) {
  const auto level = choose_level(options.isa, read_cpu_info());
  if (!level) return fail_from(level);
  auto library = load_openblas(*level, options.threads);
  if (!library) return fail_from(library);
  const auto threads = static_cast<int>(options.threads);
  library->functions.set_num_threads(threads);
  if (const int granted = library->functions.get_num_threads(); granted != threads) {
    return fail(fmt::format("this OpenBLAS was built for at most {} threads", granted),
                ErrorKind::environment);
  }
  return std::make_unique<OpenblasDevice>(*std::move(library), options.threads);
}

}  // namespace trilobite
