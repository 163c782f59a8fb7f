#pragma once
// The seam: a Device computes operations on views in host memory. Each implementation is a folder
// beside this file; device_list.hpp knows them all.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "device/op.hpp"

namespace trilobite {

struct DeviceOptions {
  unsigned threads = 1;
  std::string isa{};  // narrows the instruction set ("avx2", ...); empty: the best there is
  bool deterministic = false;  // fixed algorithm and reduction order, whatever the machine
};

/// Calls of each kernel since the counters were last cleared: the dispatcher counts what really
/// ran.
using KernelCounts = std::map<std::string, uint64_t>;

/// One caller at a time. Made by open_device().
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;
  /// What computes: library version, core type, instruction set, threads.
  virtual std::string description() const = 0;
  /// Empty when `op` can be computed on `dtype`, else the reason why not.
  virtual std::string why_unsupported(Op op, DType dtype) const = 0;
  /// Computes the call (which check_call accepts) and returns when it is started; `synchronize`
  /// waits. Unsupported calls are errors.
  virtual Result<void> run(const OpCall& call) = 0;
  /// Waits until everything that was started is done. CPU devices are always done.
  virtual void synchronize() {}

  KernelCounts take_kernel_counts() { return std::exchange(kernel_counts_, {}); }

 protected:
  /// The error of run() for calls that why_unsupported refuses.
  Result<void> check_supported(const OpCall& call) const;
  void count_kernel(const std::string& kernel) { ++kernel_counts_[kernel]; }

 private:
  KernelCounts kernel_counts_;
};

}  // namespace trilobite
