#pragma once
// How the `cpu` device computes each operation: shares the work out to threads and calls kernels.

#include <array>
#include <string_view>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/cpu_info.hpp"
#include "base/thread_pool.hpp"
#include "device/op.hpp"
#include "kernels/gemm.hpp"

namespace trilobite {

/// What the operations need besides their call. Not movable: gemm refers to its neighbours.
struct CpuWorkspace {
  explicit CpuWorkspace(unsigned threads) : pool(threads) {}
  CpuWorkspace(const CpuWorkspace&) = delete;
  CpuWorkspace& operator=(const CpuWorkspace&) = delete;

  CpuInfo cpu = read_cpu_info();
  ThreadPool pool;
  kernels::Gemm gemm{pool, cpu};
  std::vector<double> block_sums;             // of sum and mean
  std::array<AlignedBuffer, 3> dense_copies;  // of inputs that are not dense
};

/// Computes a checked call and names the kernel that did it: "add", "copy", "gemm", ... Fails when
/// the machine cannot hold the buffers it needs.
Result<std::string_view> run_cpu_op(CpuWorkspace& workspace, const OpCall& call);

}  // namespace trilobite
