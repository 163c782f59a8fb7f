#pragma once
// The definitions of all operations, as code. No state, no device around them.

#include "device/op.hpp"

namespace trilobite {

/// Computes a call that check_call accepts, in double, and rounds once to the element type.
void compute_reference(const OpCall& call);

}  // namespace trilobite
