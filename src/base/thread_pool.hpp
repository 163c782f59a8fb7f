#pragma once
// ThreadPool: fork-join over a fixed set of threads, cheap enough to be used for each matrix
// product, and in no hurry for a thread that the machine does not let run.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace trilobite {

/// [0, count) in pieces for threads that take one after the other. One round of pieces, one for
/// each thread, is half of what is left, at least one each: the first ones are long, so that
/// threads read memory in long stretches, the last ones short, so that nobody waits long for the
/// last.
class ShrinkingPieces {
 public:
  ShrinkingPieces(size_t count, unsigned threads);
  uint32_t count() const { return pieces_; }

  struct Piece {
    size_t begin, end;
  };
  Piece at(uint32_t index) const;

 private:
  struct Round {
    size_t begin;
    size_t size;  // of each of its pieces but the last
  };
  Round next(Round round) const;
  Round first() const { return {0, size_from(0)}; }
  size_t size_from(size_t begin) const;

  size_t end_;
  size_t threads_;
  uint32_t pieces_ = 0;
};

/// `threads()` workers, of which the calling thread is number 0. One caller at a time.
/// Workers spin for a few tens of microseconds after a job and then sleep, so that a chain of
/// products pays no wake-up and an idle pool costs nothing. Pieces of work are taken by whoever is
/// free: on a busy machine, where a worker may not run for milliseconds, the others do its share.
class ThreadPool {
 public:
  /// At least one thread; 1 means that everything runs on the caller.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls task(0) ... task(threads() - 1), at the same time when all threads are free, and returns
  /// when all are done.
  template <typename Task>
  void run(Task&& task) {
    run_pieces(threads(), task);
  }

  /// Splits [0, count) into contiguous pieces, aligned to `grain`, and calls task(begin, end) for
  /// each. The split depends only on count, grain and threads().
  template <typename Task>
  void for_range(size_t count, size_t grain, Task&& task) {
    if (count == 0) return;
    const size_t grains = (count + grain - 1) / grain;
    if (threads() == 1 || grains == 1) return task(size_t{0}, count);
    const ShrinkingPieces pieces(grains, threads());
    run_pieces(pieces.count(), [&](unsigned index) {
      const auto piece = pieces.at(index);
      task(piece.begin * grain, std::min(piece.end * grain, count));
    });
  }

 private:
  using Function = void (*)(void*, unsigned);

  template <typename Task>
  void run_pieces(uint32_t pieces, Task&& task) {
    run_erased(
        pieces,
        [](void* context, unsigned piece) {
          (*static_cast<std::remove_reference_t<Task>*>(context))(piece);
        },
        const_cast<void*>(static_cast<const void*>(&task)));
  }
  void run_erased(uint32_t pieces, Function function, void* context);
  void take_pieces();
  void work();
  uint32_t wait_for_job(uint32_t seen);

  // Apart on pairs of cache lines: what sleepers watch, what is claimed, what is finished.
  alignas(128) std::atomic<uint32_t> job_{0};
  std::atomic<bool> stopping_{false};
  // The pieces of the job in the upper half, the next one to take in the lower half. Both in one
  // word, so that a thread that comes late cannot take a piece of a job for one of the next.
  alignas(128) std::atomic<uint64_t> claims_{0};
  Function function_ = nullptr;
  void* context_ = nullptr;
  alignas(128) std::atomic<uint32_t> finished_{0};
  alignas(128) unsigned spins_;
  std::vector<std::jthread> workers_;
};

/// CPUs this process may run on (its affinity), at least 1.
unsigned usable_cpus();

}  // namespace trilobite
