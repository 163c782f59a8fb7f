#pragma once
// A clock and noise counters that tests move by hand.

#include <functional>

#include "measure/clock.hpp"
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

}  // namespace trilobite
