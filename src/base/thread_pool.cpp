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

// More threads than CPUs: spinning would only keep the thread that has the work from running.
ThreadPool::ThreadPool(unsigned threads) : spins_(threads <= usable_cpus() ? kSpins : 0) {
  TRILOBITE_CHECK(threads >= 1);
  workers_.reserve(threads - 1);
  for (unsigned index = 1; index < threads; ++index) {
    workers_.emplace_back([this, index] { work(index); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
}

void ThreadPool::run_erased(Function function, void* context) {
  if (!workers_.empty()) {
    function_ = function;
    context_ = context;
    unfinished_.store(static_cast<unsigned>(workers_.size()), std::memory_order_relaxed);
    job_.fetch_add(1, std::memory_order_release);
    job_.notify_all();  // no system call unless a worker sleeps
  }
  function(context, 0);
  for (unsigned spin = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins && spins_ != 0) {
      pause();
    } else {
      std::this_thread::yield();
    }
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

void ThreadPool::work(unsigned index) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_job(seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    function_(context_, index);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace trilobite
