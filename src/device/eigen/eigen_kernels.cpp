// Compiled once per instruction set; the build renames the namespace `Eigen` for each, so that the
// linker cannot mix them up, and names the table in TRILOBITE_EIGEN_TABLE.
#include "device/eigen/eigen_kernels.hpp"

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

namespace trilobite {
namespace {

template <typename T>
using Vector = Eigen::Array<T, Eigen::Dynamic, 1>;
template <typename T>
using ConstSpan = Eigen::Map<const Vector<T>>;
template <typename T>
using Span = Eigen::Map<Vector<T>>;

/// Calls function(T()) with the C++ type of the elements.
template <typename Function>
auto with_type(EigenType type, Function function) {
  if (type == EigenType::f16) return function(Eigen::half());
  if (type == EigenType::bf16) return function(Eigen::bfloat16());
  return function(float());
}

template <typename T>
auto floats(const void* data, int64_t count) {
  return ConstSpan<T>(static_cast<const T*>(data), count).template cast<float>();
}

template <typename T>
Span<T> span(void* data, int64_t count) {
  return Span<T>(static_cast<T*>(data), count);
}

// Eigen's own SimdInstructionSetsInUse() does not tell AVX2 from AVX.
#if defined(EIGEN_VECTORIZE_AVX512)
constexpr const char* kInstructionSet = "AVX-512";
#elif defined(EIGEN_VECTORIZE_AVX2) && defined(EIGEN_VECTORIZE_FMA)
constexpr const char* kInstructionSet = "AVX2 with FMA";
#elif defined(EIGEN_VECTORIZE_SSE2)
constexpr const char* kInstructionSet = "SSE2";
#elif defined(EIGEN_VECTORIZE_NEON)
constexpr const char* kInstructionSet = "NEON";
#else
constexpr const char* kInstructionSet = "no vectors";
#endif

template <int Order>
using ConstMatrix = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Order>,
                               Eigen::Unaligned, Eigen::OuterStride<>>;
using RowMajorOut =
    Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
               Eigen::Unaligned, Eigen::OuterStride<>>;

template <int OrderA, int OrderB>
void multiply_ordered(const EigenMatrix& a, const EigenMatrix& b, RowMajorOut out) {
  const ConstMatrix<OrderA> left(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.leading));
  const ConstMatrix<OrderB> right(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.leading));
  // A row or a column is told to Eigen at compile time: it then takes its matrix-vector product.
  if (a.rows == 1) {
    out.row(0).noalias() = left.row(0) * right;
  } else if (b.columns == 1) {
    out.col(0).noalias() = left * right.col(0);
  } else {
    out.noalias() = left * right;
  }
}

void multiply(const EigenMatrix& a, const EigenMatrix& b, float* out, int64_t out_leading) {
  const RowMajorOut result(out, a.rows, b.columns, Eigen::OuterStride<>(out_leading));
  constexpr int kRows = Eigen::RowMajor;
  constexpr int kColumns = Eigen::ColMajor;
  if (a.transposed) {
    return b.transposed ? multiply_ordered<kColumns, kColumns>(a, b, result)
                        : multiply_ordered<kColumns, kRows>(a, b, result);
  }
  return b.transposed ? multiply_ordered<kRows, kColumns>(a, b, result)
                      : multiply_ordered<kRows, kRows>(a, b, result);
}

void widen(EigenType type, const void* from, int64_t count, float* to) {
  with_type(type, [&](auto t) { Span<float>(to, count) = floats<decltype(t)>(from, count); });
}

void narrow(EigenType type, const float* from, int64_t count, void* to) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    span<T>(to, count) = ConstSpan<float>(from, count).template cast<T>();
  });
}

void fill(EigenType type, float value, int64_t count, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    span<T>(out, count).setConstant(static_cast<T>(value));
  });
}

float sum(EigenType type, const void* x, int64_t count) {
  return with_type(type, [&](auto t) { return floats<decltype(t)>(x, count).sum(); });
}

/// Nothing is computed, so 16-bit types are moved as integers.
template <typename T>
void move_elements(const EigenMove& move) {
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  using AnyStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const T* from = static_cast<const T*>(move.from);
  Eigen::Map<RowMajor> to(static_cast<T*>(move.to), move.rows, move.columns);
  if (move.column_stride == 1) {
    to = Eigen::Map<const RowMajor, Eigen::Unaligned, Eigen::OuterStride<>>(
        from, move.rows, move.columns, Eigen::OuterStride<>(move.row_stride));
  } else if (move.row_stride == 1) {
    to = Eigen::Map<const ColMajor, Eigen::Unaligned, Eigen::OuterStride<>>(
        from, move.rows, move.columns, Eigen::OuterStride<>(move.column_stride));
  } else {
    to = Eigen::Map<const RowMajor, Eigen::Unaligned, AnyStride>(
        from, move.rows, move.columns, AnyStride(move.row_stride, move.column_stride));
  }
}

void move(const EigenMove& move) {
  return move.type == EigenType::f32 ? move_elements<uint32_t>(move)
                                     : move_elements<uint16_t>(move);
}

void add(EigenType type, const void* a, const void* b, int64_t count, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    span<T>(out, count) = (floats<T>(a, count) + floats<T>(b, count)).template cast<T>();
  });
}

void mul(EigenType type, const void* a, const void* b, int64_t count, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    span<T>(out, count) = (floats<T>(a, count) * floats<T>(b, count)).template cast<T>();
  });
}

void relu(EigenType type, const void* x, int64_t count, float, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    span<T>(out, count) = floats<T>(x, count).max(0.0f).template cast<T>();
  });
}

void gelu_tanh(EigenType type, const void* in, int64_t count, float, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const auto x = floats<T>(in, count);
    constexpr float kRoot = 0.7978845608f;  // sqrt(2 / pi)
    const auto inner = kRoot * (x + 0.044715f * x * x * x);
    span<T>(out, count) = (0.5f * x * (1.0f + inner.tanh())).template cast<T>();
  });
}

void gelu_erf(EigenType type, const void* in, int64_t count, float, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const auto x = floats<T>(in, count);
    constexpr float kRoot = 0.7071067812f;  // 1 / sqrt(2)
    span<T>(out, count) = (0.5f * x * (1.0f + (kRoot * x).erf())).template cast<T>();
  });
}

void swish(EigenType type, const void* in, int64_t count, float beta, void* out) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const auto x = floats<T>(in, count);
    span<T>(out, count) = (x / (1.0f + (-beta * x).exp())).template cast<T>();
  });
}

/// Calls function(T(), x, out) for each row; x is an expression of floats.
template <typename Function>
void for_each_row(const EigenRows& rows, Function function) {
  with_type(rows.type, [&](auto t) {
    using T = decltype(t);
    for (int64_t row = 0; row < rows.rows; ++row) {
      const T* x = static_cast<const T*>(rows.x) + row * rows.columns;
      T* out = static_cast<T*>(rows.out) + row * rows.columns;
      function(T(), floats<T>(x, rows.columns), span<T>(out, rows.columns));
    }
  });
}

void softmax(const EigenRows& rows) {
  Vector<float> exponentials(rows.columns);  // out cannot hold them: it may be 16 bits wide
  for_each_row(rows, [&](auto t, const auto& x, auto out) {
    exponentials = (x - x.maxCoeff()).exp();
    const float scale = 1.0f / exponentials.sum();
    out = (exponentials * scale).template cast<decltype(t)>();
  });
}

void rmsnorm(const EigenRows& rows) {
  for_each_row(rows, [&](auto t, const auto& x, auto out) {
    using T = decltype(t);
    const float mean_square = x.square().sum() / static_cast<float>(rows.columns);
    const float scale = 1.0f / Eigen::numext::sqrt(mean_square + rows.epsilon);
    out = (x * scale * floats<T>(rows.weight, rows.columns)).template cast<T>();
  });
}

void layernorm(const EigenRows& rows) {
  for_each_row(rows, [&](auto t, const auto& x, auto out) {
    using T = decltype(t);
    const auto count = static_cast<float>(rows.columns);
    const float mean = x.sum() / count;
    const float variance = (x - mean).square().sum() / count;
    const float scale = 1.0f / Eigen::numext::sqrt(variance + rows.epsilon);
    out = ((x - mean) * scale * floats<T>(rows.weight, rows.columns) +
           floats<T>(rows.bias, rows.columns))
              .template cast<T>();
  });
}

}  // namespace

const EigenKernels TRILOBITE_EIGEN_TABLE{
    .instruction_set = kInstructionSet,
    .multiply = multiply,
    .widen = widen,
    .narrow = narrow,
    .fill = fill,
    .sum = sum,
    .move = move,
    .add = add,
    .mul = mul,
    .relu = relu,
    .gelu_tanh = gelu_tanh,
    .gelu_erf = gelu_erf,
    .swish = swish,
    .softmax = softmax,
    .rmsnorm = rmsnorm,
    .layernorm = layernorm,
};

}  // namespace trilobite
