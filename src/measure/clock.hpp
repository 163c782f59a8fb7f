#pragma once
// The clocks of the lab. Everything that measures time takes a Clock, so that tests can give a fake
// one.

#include <cstdint>
#include <string>

namespace trilobite {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since an arbitrary start; never goes back.
  virtual int64_t now_ns() = 0;
};

/// CLOCK_MONOTONIC, read without a system call (about 25 ns).
class SteadyClock final : public Clock {
 public:
  int64_t now_ns() override;
};

/// The date and time now, "2026-01-31T12:34:56Z".
std::string utc_now();

}  // namespace trilobite
