#pragma once
// From an operation to the oneDNN primitive that computes it.

#include <dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/op.hpp"

namespace trilobite {

/// A compiled primitive with its arguments, ready to be pointed at other memory of the same form.
struct OnednnPrimitive {
  dnnl::primitive primitive;
  std::string kernel;  // as the library names its implementation
  std::unordered_map<int, dnnl::memory> arguments;
  std::vector<int> input_ids;  // argument of each input, in their order
};

/// Why oneDNN has no primitive at all for this operation; empty when it has one.
std::string why_no_primitive(Op op);

/// Asks the library. Throws dnnl::error where it has no implementation for these types, shapes and
/// strides on this machine. Element-wise calls and sums come with rank 1, rows with rank 2, moves
/// with an input of the shape of the output; strides are positive.
dnnl::primitive_desc_base describe(const OpCall& call, const dnnl::engine& engine);

/// Compiles the primitive for such a call. Throws dnnl::error.
OnednnPrimitive compile(const OpCall& call, const dnnl::engine& engine);

}  // namespace trilobite
