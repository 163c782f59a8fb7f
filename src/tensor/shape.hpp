#pragma once
// Shape: the extents of a tensor, checked once so that no later arithmetic can overflow.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite {

inline constexpr size_t kMaxRank = 6;

/// Up to kMaxRank extents, none negative, whose product (and that of the non-zero ones) fits in
/// 2^48. Rank 0 is a scalar with one element.
class Shape {
 public:
  Shape() = default;
  /// For extents that the program knows; aborts when they break the invariant.
  Shape(std::initializer_list<int64_t> extents);
  /// For extents from a user or a file.
  static Result<Shape> from(std::span<const int64_t> extents);
  /// "2x3x4", "" is not a shape.
  static Result<Shape> parse(std::string_view text);

  size_t rank() const { return rank_; }
  int64_t operator[](size_t dim) const { return extents_[dim]; }
  std::span<const int64_t> extents() const { return {extents_.data(), rank_}; }
  int64_t elements() const;
  /// "2x3x4"; "scalar" for rank 0.
  std::string to_string() const;
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> extents_{};
  size_t rank_ = 0;
};

}  // namespace trilobite
