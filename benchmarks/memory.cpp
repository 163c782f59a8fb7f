// Suite memory: what memory costs. Allocating and releasing tensors, from the system and from the
// pool, beside filling them once; what a pool holds back after long use, and what of it is lost;
// loading a model and what it takes.

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "measure/process_usage.hpp"
#include "model_inference_models.hpp"
#include "op_benchmark.hpp"
#include "tensor/allocator.hpp"

namespace trilobite::benchmarks {
namespace {

constexpr size_t kPoolBytes = size_t{1} << 30;

/// "4096x1024" elements of f32.
size_t bytes_of(const Bench& p) {
  const auto shape = Shape::parse(p.shape());
  return shape ? static_cast<size_t>(shape->elements()) * sizeof(float) : 0;
}

void allocate(Bench& p) {
  const size_t bytes = bytes_of(p);
  SystemAllocator system;
  PoolAllocator pool(kPoolBytes);
  Allocator& allocator = p.text("from") == "pool" ? static_cast<Allocator&>(pool) : system;
  const auto once = [&] {
    auto buffer = allocator.allocate(bytes);
    if (!buffer) return false;
    Bench::keep_alive(buffer->data());
    allocator.release(*std::move(buffer));
    return true;
  };
  p.verify(once);
  p.measure(once);
}

/// The yardstick for `allocate`: the tensor's memory, written once.
void fill(Bench& p) {
  auto buffer = AlignedBuffer::allocate(bytes_of(p));
  if (!buffer) return p.fail(buffer.error().message());
  p.work({.bytes_written = static_cast<double>(buffer->size())});
  p.measure([&] {
    std::memset(buffer->data(), 1, buffer->size());
    Bench::keep_alive(buffer->data());
  });
}

/// Tensors of a model's sizes, taken and given back in random order.
class LongUse {
 public:
  explicit LongUse(uint64_t seed) : rng_(seed) {}
  void step() {
    auto& slot = live_[rng_.below(live_.size())];
    if (slot.buffer) return release(slot);
    // Activations of 1 to 512 tokens of widths that models have.
    constexpr size_t kWidths[] = {768, 2560, 3072, 6912};
    const size_t bytes = kWidths[rng_.below(4)] * (1 + rng_.below(512)) * sizeof(float);
    auto buffer = pool_.allocate(bytes);
    if (!buffer) return;
    // Only what was written takes memory.
    for (size_t at = 0; at < bytes; at += kPage) buffer->data()[at] = std::byte{1};
    slot = {*std::move(buffer), bytes};
    live_bytes_ += bytes;
  }
  /// What the pool keeps for the next request, of all that it has from the system.
  double idle_share() const {
    const auto now = pool_.statistics();
    const auto all = static_cast<double>(now.kept_bytes + now.served_bytes);
    return all == 0 ? 0 : static_cast<double>(now.kept_bytes) / all;
  }
  double hit_share() const {
    const auto now = pool_.statistics();
    return static_cast<double>(now.hits) / static_cast<double>(now.hits + now.misses);
  }
  /// What is resident although nobody uses it and the pool has given back all it can, of all that
  /// is resident; `before`: resident before the use began.
  std::optional<double> lost_share(uint64_t before) {
    pool_.trim();
    const auto now = resident_bytes();
    if (!now || *now <= before) return std::nullopt;
    const auto held = static_cast<double>(*now - before);
    return std::max(0.0, 1 - static_cast<double>(live_bytes_) / held);
  }
  void release_all() {
    for (auto& slot : live_)
      if (slot.buffer) release(slot);
  }

 private:
  static constexpr size_t kPage = 4096;
  struct Slot {
    std::optional<AlignedBuffer> buffer;
    size_t bytes = 0;  // that were asked for
  };
  void release(Slot& slot) {
    pool_.release(*std::move(slot.buffer));
    slot.buffer.reset();
    live_bytes_ -= slot.bytes;
  }

  Rng rng_;
  size_t live_bytes_ = 0;
  PoolAllocator pool_{size_t{256} << 20};
  std::vector<Slot> live_ = std::vector<Slot>(32);
};

void long_use(Bench& p) {
  constexpr size_t kSteps = 5'000;
  const auto before = resident_bytes();
  LongUse use(p.seed());
  for (size_t step = 0; step < kSteps; ++step) use.step();
  p.figure("kept_for_reuse_percent", 100 * use.idle_share());
  p.figure("pool_hit_percent", 100 * use.hit_share());
  if (const auto lost = before ? use.lost_share(*before) : std::nullopt)
    p.figure("fragmentation_percent", 100 * *lost);
  p.measure([&] { use.step(); });
  use.release_all();
}

void load_model(Bench& p) {
  const auto file = model_file({p.shape().substr(0, p.shape().rfind('-')), "tiny", p.dtype()});
  if (!file) return p.skip(file.error().message());
  const auto engine = model::Engine::load(*file, {.threads = p.threads(), .context = 256});
  if (!engine) return p.fail(engine.error().message());
  const auto memory = engine->memory();
  p.figure("mapped_weight_bytes", static_cast<double>(memory.mapped_weights));
  p.figure("packed_weight_bytes", static_cast<double>(memory.packed_weights));
  p.figure("kv_cache_bytes", static_cast<double>(memory.kv_cache));
  p.figure("scratch_bytes", static_cast<double>(memory.scratch));
  p.measure([&] {
    return model::Engine::load(*file, {.threads = p.threads(), .context = 256}).has_value();
  });
}

std::vector<Case> tensor_cases(const std::vector<std::string>& from) {
  std::vector<Case> cases;
  for (const char* shape : {"64x64", "512x512", "1024x1024", "4096x4096"}) {
    for (const auto& source : from) {
      cases.push_back({.dtype = "f32", .shape = shape, .parameters = {{"from", source}}});
    }
  }
  return cases;
}

bool register_suite() {
  register_benchmark({.suite = "memory",
                      .operation = "allocate",
                      .cases = [] { return tensor_cases({"system", "pool"}); },
                      .body = allocate});
  register_benchmark({.suite = "memory",
                      .operation = "fill",
                      .cases = [] { return tensor_cases({"system"}); },
                      .body = fill});
  register_benchmark({.suite = "memory",
                      .operation = "long_use",
                      .cases = [] { return std::vector<Case>{{.dtype = "f32"}}; },
                      .body = long_use});
  register_benchmark({.suite = "memory",
                      .operation = "load_model",
                      .cases =
                          [] {
                            return std::vector<Case>{{.dtype = "TQ2_0", .shape = "bitnet-tiny"},
                                                     {.dtype = "Q8_0", .shape = "llama-tiny"}};
                          },
                      .body = load_model});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
