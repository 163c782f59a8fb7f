#pragma once
// The dense matrix product out = a b on f32, f16 and bf16 in any mixture, sums in f32, blocked for
// the caches and spread over threads. (Goto & van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008; Van Zee & van de Geijn, "BLIS", 2015.)

#include <cstddef>
#include <string_view>

#include "base/aligned_buffer.hpp"
#include "base/cpu_info.hpp"
#include "base/thread_pool.hpp"
#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// A matrix in memory that somebody else owns; strides in elements, of any sign.
struct StridedMatrix {
  const void* data;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
};

struct GemmCall {
  DType a_dtype;  // each f32, f16 or bf16
  DType b_dtype;
  DType out_dtype;
  size_t m;         // rows of a and out
  size_t n;         // columns of b and out
  size_t k;         // columns of a, rows of b
  StridedMatrix a;  // [m, k]
  StridedMatrix b;  // [k, n]
  void* out;        // [m, n], dense
};

/// Owns the packing buffers, which grow to what the largest product needed. One caller at a time.
/// The result does not depend on the number of threads: they share rows and columns, never sums.
/// |error| <= (k + 2) 2^-24 sum |a||b|, and for 16-bit types one rounding of the result more.
class Gemm {
 public:
  /// Keeps references: both outlive it.
  Gemm(ThreadPool& pool, const CpuInfo& cpu) : pool_(pool), cpu_(cpu) {}
  /// Fails when the machine cannot hold the buffers.
  Result<void> run(const GemmCall& call);
  /// What computed the latest product: "gemm", or "gemv" for a single row or column.
  std::string_view last_kernel() const { return last_kernel_; }

 private:
  struct Block;
  Result<void> multiply_row(const GemmCall& call);
  Result<void> multiply_packed(const GemmCall& call);
  Result<void> reserve(const GemmCall& call, const Block& largest);
  void pack_a(const GemmCall& call, const Block& block, size_t first, size_t lines);
  void pack_b(const GemmCall& call, const Block& block, size_t first, size_t lines, float* packed);
  void pack(const GemmCall& call, const Block& block);
  void multiply_panel_by_panel(const GemmCall& call, const Block& block, float* sums);
  void multiply(const GemmCall& call, const Block& block, float* sums);
  void round_sums(const GemmCall& call);
  template <typename Task>
  void for_tasks(size_t count, Task&& task);

  ThreadPool& pool_;
  const CpuInfo& cpu_;
  AlignedBuffer packed_a_;
  AlignedBuffer packed_b_;
  AlignedBuffer sums_;  // of 16-bit products, before they are rounded
  bool parallel_ = false;
  bool a_in_place_ = false;
  bool panel_by_panel_ = false;
  std::string_view last_kernel_ = "gemm";
};

}  // namespace trilobite::kernels
