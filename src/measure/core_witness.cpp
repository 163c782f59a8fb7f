#include "measure/core_witness.hpp"

#include <algorithm>
#include <cstdint>

namespace trilobite {
namespace {

constexpr int kTurns = 4000;  // about six microseconds

alignas(64) constexpr uint64_t kAddends[8] = {1, 2, 3, 5, 7, 11, 13, 17};

/// x += addend, read from the first-level cache. Written down where that is possible, so that the
/// work is the same whatever compiled it.
inline void add(uint64_t& x, const uint64_t& addend) {
#if defined(__x86_64__)
  asm volatile("addq %1, %0" : "+r"(x) : "m"(addend));
#else
  x += *static_cast<const volatile uint64_t*>(&addend);
  asm volatile("" : "+r"(x));
#endif
}

/// Sixteen loads and additions a turn in eight chains: more than a core can issue at a time.
uint64_t fill_the_core() {
  uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int twice = 0; twice < 2; ++twice) {
      add(a, kAddends[0]);
      add(b, kAddends[1]);
      add(c, kAddends[2]);
      add(d, kAddends[3]);
      add(e, kAddends[4]);
      add(f, kAddends[5]);
      add(g, kAddends[6]);
      add(h, kAddends[7]);
    }
  }
  return a + b + c + d + e + f + g + h;
}

}  // namespace

double CoreWitness::look() {
  const double taken = work_ns();
  learn(taken);
  return taken;
}

void CoreWitness::learn(double look_ns) {
  if (look_ns == 0) return;
  shortest_ns_ = shortest_ns_ == 0 ? look_ns : std::min(shortest_ns_, look_ns);
}

double LoopWitness::work_ns() {
  const int64_t start = clock_.now_ns();
  volatile uint64_t sum = fill_the_core();
  (void)sum;
  return static_cast<double>(std::max<int64_t>(1, clock_.now_ns() - start));
}

bool LoopWitness::move_on() {
  if (!allowed_) {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    allowed_ = allowed;
  }
  const int current = ::sched_getcpu();
  if (current < 0 || CPU_COUNT(&*allowed_) < 2) return false;
  auto next = static_cast<size_t>(current);
  do {
    next = (next + 1) % CPU_SETSIZE;
  } while (!CPU_ISSET(next, &*allowed_));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(next, &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

void LoopWitness::settle() {
  if (allowed_) ::sched_setaffinity(0, sizeof *allowed_, &*allowed_);
  allowed_.reset();
}

}  // namespace trilobite
