#include "device/dense_input.hpp"

#include <limits>

#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

/// Element is any type of the right size: nothing is converted.
template <typename Element>
void copy_rows(const ConstTensorView& from, Element* to) {
  const size_t last = from.shape().rank() - 1;
  const int64_t width = from.shape()[last];
  const int64_t stride = from.strides()[last];
  for_each_offset(from.slice(last, 0, 1), [&](int64_t row) {
    const Element* source = from.data<Element>() + row;
    for (int64_t i = 0; i < width; ++i) *to++ = source[i * stride];
  });
}

}  // namespace

Result<std::byte*> grown(AlignedBuffer& buffer, size_t bytes) {
  if (buffer.size() < bytes) {
    auto larger = AlignedBuffer::allocate(bytes);
    if (!larger) return fail_from(larger, "scratch memory");
    buffer = *std::move(larger);
  }
  return buffer.data();
}

Result<ConstTensorView> DenseInput::of(const ConstTensorView& view) {
  if (view.is_contiguous()) return view;
  auto memory = grown(memory_, static_cast<size_t>(view.elements()) * size_of(view.dtype()));
  if (!memory) return fail_from(memory);
  TensorView copy(*memory, view.dtype(), view.shape());
  if (view.dtype() == DType::f32) {
    copy_rows(view, copy.data<uint32_t>());
  } else {
    copy_rows(view, copy.data<uint16_t>());
  }
  return copy;
}

bool compute_if_empty(const OpCall& call) {
  if (call.out.elements() == 0) return true;
  if (call.inputs.empty() || call.inputs[0].elements() > 0) return false;
  const float value = call.op == Op::mean ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
  for (int64_t i = 0; i < call.out.elements(); ++i) store_from_float(call.out, i, value);
  return true;
}

}  // namespace trilobite
