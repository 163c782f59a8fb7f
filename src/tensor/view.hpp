#pragma once
// TensorView: shape, strides and element type over memory that somebody else owns. Transposing,
// slicing and (where the layout allows it) reshaping make another view and copy nothing.

#include <array>
#include <cstddef>
#include <optional>

#include "base/error.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace trilobite {

using Strides = std::array<int64_t, kMaxRank>;  // in elements; the entries up to the rank count

/// Row-major strides of a dense tensor.
Strides contiguous_strides(const Shape& shape);

/// Byte is std::byte (a view to write to) or const std::byte (read only). Cheap to copy.
template <typename Byte>
class BasicView {
 public:
  BasicView() = default;
  /// Dense, row-major.
  BasicView(Byte* data, DType dtype, Shape shape)
      : BasicView(data, dtype, shape, contiguous_strides(shape)) {}
  BasicView(Byte* data, DType dtype, Shape shape, Strides strides)
      : data_(data), dtype_(dtype), shape_(shape), strides_(strides) {}
  /// A writable view may be read.
  operator BasicView<const std::byte>() const { return {data_, dtype_, shape_, strides_}; }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int64_t elements() const { return shape_.elements(); }
  Byte* bytes() const { return data_; }

  /// Pointer to the first element; T must be the C++ type of dtype().
  template <typename T>
  auto* data() const {
    using Pointer = std::conditional_t<std::is_const_v<Byte>, const T*, T*>;
    return reinterpret_cast<Pointer>(data_);
  }
  /// Pointer to the element at `offset` elements from the first.
  Byte* at(int64_t offset) const { return data_ + offset * static_cast<int64_t>(size_of(dtype_)); }

  /// Row-major without gaps.
  bool is_contiguous() const;
  /// The last dimension has stride 1 (or at most one element): rows can be read as spans.
  bool has_dense_rows() const;

  /// Dimensions a and b swapped; both below the rank.
  BasicView transpose(size_t a, size_t b) const;
  /// Elements [begin, end) of dimension dim; 0 <= begin <= end <= extent.
  BasicView slice(size_t dim, int64_t begin, int64_t end) const;
  /// The same elements in row-major order under another shape, when no copy is needed for that;
  /// otherwise nothing. The number of elements must agree.
  std::optional<BasicView> reshape(const Shape& shape) const;

 private:
  Byte* data_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_{0};
  Strides strides_{1};
};

using TensorView = BasicView<std::byte>;
using ConstTensorView = BasicView<const std::byte>;

extern template class BasicView<std::byte>;
extern template class BasicView<const std::byte>;

}  // namespace trilobite
