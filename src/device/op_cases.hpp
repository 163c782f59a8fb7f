#pragma once
// Calls that devices tend to get wrong: for the test that compares every device on every op.

#include <string>
#include <vector>

#include "device/op.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {

/// A call with the memory behind it. What its views do not show is NaN, and so is the output: a
/// device that reads beside its input or skips a part of its output is found out.
struct OpCase {
  std::string what;  // "7x13 transposed, large"
  std::vector<Tensor> memory;
  OpCall call;
};

/// All cases of one operation on one element type.
std::vector<OpCase> cases_of(Op op, DType dtype);

/// Fills the output with NaN again, and forgets what an earlier run wrote behind its end.
void poison_output(OpCase& test_case);

/// True when nothing has been written behind the end of the output.
bool output_end_is_intact(const OpCase& test_case);

}  // namespace trilobite
