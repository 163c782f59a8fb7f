#include "device/cpu/matmul_chooser.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <string_view>

#include "device/device_list.hpp"

namespace trilobite {
namespace {

// Below 2^24 operations (about 0.1 ms) our own kernel is used unmeasured: calling a library costs
// as much as it could gain.
constexpr double kFewFlops = 0x1p24;
// Larger products are judged by a part of this many rows, columns and terms: all libraries have
// reached their full speed there, and the measurement takes about a second.
constexpr int64_t kProbeExtent = 1024;
// At least so many rounds, and more of short products: their minimum needs more tries to be free of
// what else the machine does.
constexpr int kRounds = 8;
constexpr std::chrono::milliseconds kMeasuringTime{40};
// Another library must be this much faster than our own kernel, or noise would choose.
constexpr double kClearlyFaster = 1.01;

struct Extents {
  int64_t m, n, k;
};

Extents extents_of(const OpCall& call) {
  const auto& a = call.inputs[0].shape();
  const auto& out = call.out.shape();
  return {out[out.rank() - 2], out[out.rank() - 1], a[a.rank() - 1]};
}

/// The first rows and columns of the last two dimensions, of the first batch.
ConstTensorView corner(ConstTensorView view, int64_t rows, int64_t columns) {
  const size_t rank = view.shape().rank();
  const Strides strides{view.strides()[rank - 2], view.strides()[rank - 1]};
  return {view.bytes(), view.dtype(), Shape{rows, columns}, strides};
}

OpCall probe_of(const OpCall& call) {
  const Extents full = extents_of(call);
  const int64_t m = std::min(full.m, kProbeExtent);
  const int64_t n = std::min(full.n, kProbeExtent);
  const int64_t k = std::min(full.k, kProbeExtent);
  OpCall probe{.op = Op::matmul};
  probe.inputs = {corner(call.inputs[0], m, k), corner(call.inputs[1], k, n)};
  probe.out = TensorView(call.out.bytes(), call.out.dtype(), Shape{m, n});
  return probe;
}

int magnitude(int64_t extent) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(std::min(extent, kProbeExtent))));
}

}  // namespace

void MatmulChooser::open_rivals() {
  rivals_opened_ = true;
  for (const std::string_view name : {"onednn", "openblas", "eigen"}) {
    // Those that this build or machine lacks are no rivals.
    auto rival = open_device(name, options_);
    if (rival && (*rival)->why_unsupported(Op::matmul, DType::f32).empty()) {
      rivals_.push_back(*std::move(rival));
    }
  }
}

/// The minimum of interleaved rounds.
Device* MatmulChooser::measure(const OpCall& call, const Own& own) {
  const OpCall probe = probe_of(call);
  const auto compute = [&](Device* rival) {
    const auto done = rival == nullptr ? own(probe) : rival->run(probe);
    if (rival != nullptr) rival->synchronize();
    return done.has_value();
  };
  const auto seconds_for = [&](Device* rival) {
    // Once untimed: the threads of the library before still spin for a while.
    if (!compute(rival)) return std::numeric_limits<double>::infinity();
    const auto start = std::chrono::steady_clock::now();
    compute(rival);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double own_seconds = std::numeric_limits<double>::infinity();
  std::vector<double> rival_seconds(rivals_.size(), own_seconds);
  const auto enough = std::chrono::steady_clock::now() + kMeasuringTime;
  for (int round = 0; round < kRounds || std::chrono::steady_clock::now() < enough; ++round) {
    own_seconds = std::min(own_seconds, seconds_for(nullptr));
    for (size_t i = 0; i < rivals_.size(); ++i) {
      rival_seconds[i] = std::min(rival_seconds[i], seconds_for(rivals_[i].get()));
    }
  }
  const auto best = std::ranges::min_element(rival_seconds);
  if (best == rival_seconds.end() || *best * kClearlyFaster > own_seconds) return nullptr;
  return rivals_[static_cast<size_t>(best - rival_seconds.begin())].get();
}

Device* MatmulChooser::choose(const OpCall& call, const Own& own) {
  const Extents extents = extents_of(call);
  const double flops = 2.0 * static_cast<double>(extents.m) * static_cast<double>(extents.n) *
                       static_cast<double>(extents.k);
  if (flops < kFewFlops) return nullptr;
  const ConstTensorView& b = call.inputs[1];
  const bool transposed = b.strides()[b.shape().rank() - 1] != 1;
  const SizeClass size_class{magnitude(extents.m), magnitude(extents.n), magnitude(extents.k),
                             transposed};
  if (const auto known = choices_.find(size_class); known != choices_.end()) return known->second;
  if (!rivals_opened_) open_rivals();
  return choices_[size_class] = measure(call, own);
}

}  // namespace trilobite
