#include "tensor/view.hpp"

#include <utility>
#include <vector>

namespace trilobite {
namespace {

struct Dimension {
  int64_t extent;
  int64_t stride;
};

/// The view's dimensions without those of extent 1 (their stride means nothing), neighbours merged
/// where the outer one continues the inner one.
std::vector<Dimension> merged(const Shape& shape, const Strides& strides) {
  std::vector<Dimension> dims;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const Dimension dim{shape[i], strides[i]};
    if (!dims.empty() && dims.back().stride == dim.stride * dim.extent) {
      dims.back() = {dims.back().extent * dim.extent, dim.stride};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

/// Splits the merged dimensions into `shape`, innermost first; false when a new extent would have
/// to span two dimensions that are not contiguous with each other.
bool split_into(const std::vector<Dimension>& dims, const Shape& shape, Strides& strides) {
  size_t next = dims.size();
  int64_t left = 1;    // elements of the current merged dimension that are not yet given out
  int64_t stride = 1;  // stride for the next new extent
  for (size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 1) {
      strides[i] = stride;
      continue;
    }
    if (left == 1) {
      if (next == 0) return false;
      left = dims[--next].extent;
      stride = dims[next].stride;
    }
    if (left % shape[i] != 0) return false;
    strides[i] = stride;
    stride *= shape[i];
    left /= shape[i];
  }
  return true;
}

}  // namespace

Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  int64_t stride = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

template <typename Byte>
bool BasicView<Byte>::is_contiguous() const {
  if (elements() == 0) return true;
  int64_t expected = 1;
  for (size_t i = shape_.rank(); i-- > 0;) {
    if (shape_[i] != 1 && strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

template <typename Byte>
bool BasicView<Byte>::has_dense_rows() const {
  const size_t rank = shape_.rank();
  return rank == 0 || shape_[rank - 1] <= 1 || strides_[rank - 1] == 1;
}

template <typename Byte>
BasicView<Byte> BasicView<Byte>::transpose(size_t a, size_t b) const {
  TRILOBITE_CHECK(a < shape_.rank() && b < shape_.rank());
  std::vector<int64_t> extents(shape_.extents().begin(), shape_.extents().end());
  std::swap(extents[a], extents[b]);
  Strides strides = strides_;
  std::swap(strides[a], strides[b]);
  return {data_, dtype_, Shape::from(extents).value(), strides};
}

template <typename Byte>
BasicView<Byte> BasicView<Byte>::slice(size_t dim, int64_t begin, int64_t end) const {
  TRILOBITE_CHECK(dim < shape_.rank() && 0 <= begin && begin <= end && end <= shape_[dim]);
  std::vector<int64_t> extents(shape_.extents().begin(), shape_.extents().end());
  extents[dim] = end - begin;
  return {at(begin * strides_[dim]), dtype_, Shape::from(extents).value(), strides_};
}

template <typename Byte>
std::optional<BasicView<Byte>> BasicView<Byte>::reshape(const Shape& shape) const {
  TRILOBITE_CHECK(shape.elements() == elements());
  if (elements() == 0) return BasicView(data_, dtype_, shape);
  Strides strides{};
  if (!split_into(merged(shape_, strides_), shape, strides)) return std::nullopt;
  return BasicView(data_, dtype_, shape, strides);
}

template class BasicView<std::byte>;
template class BasicView<const std::byte>;

}  // namespace trilobite
