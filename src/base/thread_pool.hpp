#pragma once
// ThreadPool: fork-join over a fixed set of threads, cheap enough to be used for each matrix
// product.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace trilobite {

/// `threads()` workers, of which the calling thread is number 0. One caller at a time.
/// Workers spin for a few tens of microseconds after a job and then sleep, so that a chain of
/// products pays no wake-up and an idle pool costs nothing.
class ThreadPool {
 public:
  /// At least one thread; 1 means that everything runs on the caller.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls task(0) ... task(threads() - 1), each on its own thread, and returns when all have.
  template <typename Task>
  void run(Task&& task) {
    run_erased(
        [](void* context, unsigned index) {
          (*static_cast<std::remove_reference_t<Task>*>(context))(index);
        },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

  /// Splits [0, count) into one contiguous piece per thread, of at least `grain` (the last may be
  /// smaller), aligned to `grain`, and calls task(begin, end) for each. The split depends only on
  /// count, grain and threads().
  template <typename Task>
  void for_range(size_t count, size_t grain, Task&& task) {
    if (count == 0) return;
    const size_t grains = (count + grain - 1) / grain;
    if (threads() == 1 || grains == 1) return task(size_t{0}, count);
    run([&](unsigned index) {
      const size_t begin = grains * index / threads() * grain;
      const size_t end = grains * (index + 1) / threads() * grain;
      if (begin < count && begin < end) task(begin, end < count ? end : count);
    });
  }

 private:
  using Function = void (*)(void*, unsigned);
  void run_erased(Function function, void* context);
  void work(unsigned index);
  uint32_t wait_for_job(uint32_t seen);

  // Each on its own pair of cache lines: the caller writes one while the workers write the other.
  alignas(128) std::atomic<uint32_t> job_{0};
  Function function_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> stopping_{false};
  alignas(128) std::atomic<unsigned> unfinished_{0};
  alignas(128) unsigned spins_;
  std::vector<std::jthread> workers_;
};

/// CPUs this process may run on (its affinity), at least 1.
unsigned usable_cpus();

}  // namespace trilobite
