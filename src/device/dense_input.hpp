#pragma once
// Two things that every device needs which stands on a library: inputs without gaps, and answers
// for calls with empty inputs, which libraries refuse or get wrong.

#include "base/aligned_buffer.hpp"
#include "device/op.hpp"

namespace trilobite {

/// Keeps the memory between calls, so that a copy costs no page faults.
class DenseInput {
 public:
  /// The view itself when it is row-major without gaps, else a copy that is valid until the next
  /// call. Fails when the machine cannot hold the copy.
  Result<ConstTensorView> of(const ConstTensorView& view);

 private:
  AlignedBuffer memory_;
};

/// At least `bytes` bytes: `buffer` itself, or a new one in its place. The content is lost.
Result<std::byte*> grown(AlignedBuffer& buffer, size_t bytes);

/// Computes the call if its output or its first input has no elements (nothing, zeros, or NaN for
/// a mean); false when there is work to do.
bool compute_if_empty(const OpCall& call);

}  // namespace trilobite
