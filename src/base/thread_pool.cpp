#include "base/thread_pool.hpp"

#include <sched.h>

#include <algorithm>

#include "base/error.hpp"

namespace trilobite {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A pause is 40 to 140 cycles on current cores: 2,000 of them are 30 to 100 us, longer than the
// serial work between two products of a model and short enough not to disturb what runs afterwards.
constexpr unsigned kSpins = 2000;

}  // namespace

unsigned usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
}

ShrinkingPieces::ShrinkingPieces(size_t count, unsigned threads) : end_(count), threads_(threads) {
  for (Round round = first(); round.begin < end_; round = next(round)) {
    const size_t left = (end_ - round.begin + round.size - 1) / round.size;
    pieces_ += static_cast<uint32_t>(std::min(threads_, left));
  }
}

size_t ShrinkingPieces::size_from(size_t begin) const {
  return std::max<size_t>(1, (end_ - begin) / (2 * threads_));
}

ShrinkingPieces::Round ShrinkingPieces::next(Round round) const {
  const size_t begin = std::min(end_, round.begin + threads_ * round.size);
  return {begin, size_from(begin)};
}

ShrinkingPieces::Piece ShrinkingPieces::at(uint32_t index) const {
  Round round = first();
  for (; index >= threads_; index -= static_cast<uint32_t>(threads_)) round = next(round);
  const size_t begin = round.begin + index * round.size;
  return {begin, std::min(end_, begin + round.size)};
}

// More threads than CPUs: spinning would only keep the thread that has the work from running.
ThreadPool::ThreadPool(unsigned threads) : spins_(threads <= usable_cpus() ? kSpins : 0) {
  TRILOBITE_CHECK(threads >= 1);
  workers_.reserve(threads - 1);
  while (workers_.size() + 1 < threads) {
    workers_.emplace_back([this] { work(); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
}

void ThreadPool::run_erased(uint32_t pieces, Function function, void* context) {
  function_ = function;
  context_ = context;
  finished_.store(0, std::memory_order_relaxed);
  claims_.store(uint64_t{pieces} << 32, std::memory_order_release);
  if (!workers_.empty()) {
    job_.fetch_add(1, std::memory_order_release);
    job_.notify_all();  // no system call unless a worker sleeps
  }
  take_pieces();
  for (unsigned spin = 0; finished_.load(std::memory_order_acquire) != pieces; ++spin) {
    if (spin < spins_) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::take_pieces() {
  while (true) {
    const uint64_t claim = claims_.fetch_add(1, std::memory_order_acq_rel);
    const auto piece = static_cast<uint32_t>(claim);
    if (piece >= claim >> 32) return;
    // The job cannot end before this piece does, so function and context are its own.
    function_(context_, piece);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

uint32_t ThreadPool::wait_for_job(uint32_t seen) {
  for (unsigned spin = 0; spin < spins_; ++spin) {
    const uint32_t job = job_.load(std::memory_order_acquire);
    if (job != seen) return job;
    pause();
  }
  job_.wait(seen, std::memory_order_acquire);
  return job_.load(std::memory_order_acquire);
}

void ThreadPool::work() {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_job(seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    take_pieces();
  }
}

}  // namespace trilobite
