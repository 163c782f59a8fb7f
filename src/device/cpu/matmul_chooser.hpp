#pragma once
// Decides by measuring which library multiplies matrices of a given size fastest on this machine:
// our own kernel or one of the devices openblas, onednn, eigen.

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "device/device.hpp"

namespace trilobite {

/// Remembers its choices. One caller at a time.
class MatmulChooser {
 public:
  /// Computes a call with the caller's own kernel.
  using Own = std::function<Result<void>(const OpCall&)>;

  explicit MatmulChooser(const DeviceOptions& options) : options_(options) {}

  /// The device to give this f32 product to; nullptr means one's own kernel. The first product of
  /// a size class is timed on all of them, which takes about a second at most and overwrites
  /// call.out.
  Device* choose(const OpCall& call, const Own& own);

 private:
  /// Binary orders of magnitude of m, n, k, and whether b lies transposed in memory.
  using SizeClass = std::tuple<int, int, int, bool>;
  Device* measure(const OpCall& call, const Own& own);
  void open_rivals();

  DeviceOptions options_;
  bool rivals_opened_ = false;
  std::vector<std::unique_ptr<Device>> rivals_;
  std::map<SizeClass, Device*> choices_;
};

}  // namespace trilobite
