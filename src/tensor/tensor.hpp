#pragma once
// Tensor: owns the memory of a dense, row-major tensor. Everything that looks at it is a view.

#include "tensor/allocator.hpp"
#include "tensor/view.hpp"

namespace trilobite {

/// Move-only. The allocator outlives the tensor.
class Tensor {
 public:
  /// Not initialised. Fails when the machine cannot hold it.
  static Result<Tensor> create(const Shape& shape, DType dtype,
                               Allocator& allocator = system_allocator());

  ~Tensor();
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  size_t size_bytes() const { return static_cast<size_t>(shape_.elements()) * size_of(dtype_); }

  TensorView view() { return {buffer_.data(), dtype_, shape_}; }
  ConstTensorView view() const { return {buffer_.data(), dtype_, shape_}; }

 private:
  Tensor(AlignedBuffer buffer, Shape shape, DType dtype, Allocator& allocator)
      : buffer_(std::move(buffer)), shape_(shape), dtype_(dtype), allocator_(&allocator) {}

  AlignedBuffer buffer_;
  Shape shape_;
  DType dtype_;
  Allocator* allocator_;  // nullptr after a move
};

/// Reads any element type as f32: for references, checks and printing, not for speed.
float load_as_float(ConstTensorView view, int64_t offset);
/// Stores with the rounding of the element type; integers saturate.
void store_from_float(TensorView view, int64_t offset, float value);
/// Calls visit(offset) for every element in row-major order, offset in elements from the first.
template <typename Byte, typename Visit>
void for_each_offset(const BasicView<Byte>& view, Visit&& visit) {
  if (view.elements() == 0) return;
  std::array<int64_t, kMaxRank> index{};
  const size_t rank = view.shape().rank();
  while (true) {
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) offset += index[i] * view.strides()[i];
    visit(offset);
    size_t dim = rank;
    while (dim > 0 && ++index[dim - 1] == view.shape()[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

}  // namespace trilobite
