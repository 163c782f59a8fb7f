#pragma once
// A clock, noise counters and a witness that tests move by hand.

#include <functional>

#include "measure/clock.hpp"
#include "measure/core_witness.hpp"
#include "measure/noise.hpp"

namespace trilobite {

class FakeClock final : public Clock {
 public:
  int64_t now_ns() override { return now_; }
  void advance(int64_t nanoseconds) { now_ += nanoseconds; }

 private:
  int64_t now_ = 1'000'000;
};

class FakeNoise final : public NoiseCounters {
 public:
  NoiseReading read() override { return reading; }
  NoiseReading reading;
};

class FakeWitness final : public CoreWitness {
 public:
  bool move_on() override {
    ++moves;
    return true;
  }
  void settle() override { ++settled; }

  double next_ns = 1000;
  int moves = 0;
  int settled = 0;

 private:
  double work_ns() override { return next_ns; }
};

}  // namespace trilobite
