#pragma once
// One device operation as a benchmark: inputs made outside the clock, the output compared with the
// reference device, then timed. All suites over operations and `trilobite compare` are built from
// it.

#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/op.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {

/// How the inputs lie in memory.
enum class Layout { dense, transposed, strided };

/// The device of a case, opened once per process and options: opening one is setup, and its threads
/// should not pile up.
Result<Device*> shared_device(const Bench& p);

/// Uniform in [-1, 1): finite for every operation, and no denormals to speak of.
void fill_uniform(TensorView view, uint64_t seed, uint64_t stream);

/// The body for one operation. `p` has the device, dtype and shape; a matmul takes the shape as MxK
/// (times KxM), MxKxN or BxMxKxN, everything else as the shape of its input. The parameter "layout"
/// chooses the layout.
void run_op(Bench& p, Op op);

/// Every combination, devices varying fastest, so that neighbours in a list can be compared.
std::vector<Case> op_cases(const std::vector<std::string>& dtypes,
                           const std::vector<std::string>& shapes,
                           const std::vector<std::string>& devices);

/// The names of the devices that compute on a CPU of this machine, usable or not: what suites run
/// over.
std::vector<std::string> cpu_device_names();

/// Of all devices, as `trilobite devices` shows them; opens each usable one with these options.
struct DeviceLine {
  std::string name;
  std::string what;
  bool usable = false;
  std::string description;  // of the opened device, or what is missing
};
std::vector<DeviceLine> describe_devices(const DeviceOptions& options);

}  // namespace trilobite::benchmarks
