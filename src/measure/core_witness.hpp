#pragma once
// CoreWitness: tells whether somebody else uses this core right now. The second hardware thread of
// a core belongs to another guest on many shared machines; no counter shows what it takes from us,
// but a loop that needs every issue slot of the core takes up to twice as long while it runs.

#include <sched.h>

#include <optional>

#include "measure/clock.hpp"
#include "record/record.hpp"

namespace trilobite {

class CoreWitness {
 public:
  virtual ~CoreWitness() = default;
  /// Does the same work as ever (some microseconds) and returns how many nanoseconds it took.
  double look();
  /// The least that any look has taken: nobody else was there, if there ever was such a moment.
  double shortest_ns() const { return shortest_ns_; }
  /// Somebody else's look on this machine took so long; 0 when there was none.
  void learn(double look_ns);
  /// A look that took so long was undisturbed, as far as is known by now.
  bool was_quiet(double look_ns) const { return look_ns <= kQuietSpread * shortest_ns_; }
  /// Goes on to the next CPU that this thread may use; false when there is no other.
  virtual bool move_on() = 0;
  /// Lets the system choose the CPU again.
  virtual void settle() = 0;

 protected:
  virtual double work_ns() = 0;

 private:
  double shortest_ns_ = 0;
};

class LoopWitness final : public CoreWitness {
 public:
  /// `clock` outlives the witness.
  explicit LoopWitness(Clock& clock) : clock_(clock) {}
  bool move_on() override;
  void settle() override;

 private:
  double work_ns() override;
  Clock& clock_;
  std::optional<cpu_set_t> allowed_;  // before we chose one of them
};

}  // namespace trilobite
