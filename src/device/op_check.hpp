#pragma once
// Is the answer of a device right? Compares it with the reference under a bound that is derived
// from the operation and the element type, not chosen until it passes. Tests and benchmarks use
// the same check.

#include <string>
#include <vector>

#include "device/op.hpp"

namespace trilobite {

/// What the reference says, and how far each element may be from it.
struct OpExpectation {
  std::vector<float> values;
  std::vector<float> tolerance;  // 0 where every device must give the same bits
};

struct OpCheck {
  bool passed = true;
  double max_error = 0;  // largest |got - expected| among finite values
  double cosine = 1;     // of the angle between both answers; 1 when one of them is zero
  std::string problem;   // the first wrong element in words, empty when all are right
};

/// Computes the call on the reference; the memory of call.out is not touched. Fails when the
/// machine cannot hold the answer.
Result<OpExpectation> expectation_of(const OpCall& call);

/// Compares call.out with the expectation. NaN and infinities must be where they are expected.
OpCheck check_output(const OpCall& call, const OpExpectation& expected);

}  // namespace trilobite
