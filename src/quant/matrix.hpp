#pragma once
// What goes into and comes out of every format: a borrowed f32 matrix, and packed bytes with the
// scales that belong to them. Plain data; nothing here knows a format.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trilobite::quant {

/// rows * cols when it is at least 1 and small enough that no byte count made from it overflows.
Result<size_t> count_elements(size_t rows, size_t cols);

/// A dense row-major f32 matrix that somebody else owns: at least one element, size checked.
/// A row holds the inputs of one output channel.
class MatrixView {
 public:
  static Result<MatrixView> from(std::span<const float> values, size_t rows, size_t cols);

  size_t rows() const { return rows_; }
  size_t cols() const { return values_.size() / rows_; }
  std::span<const float> values() const { return values_; }
  std::span<const float> row(size_t index) const { return values_.subspan(index * cols(), cols()); }

 private:
  MatrixView(std::span<const float> values, size_t rows) : values_(values), rows_(rows) {}
  std::span<const float> values_;
  size_t rows_;
};

/// How many of each thing a packed matrix consists of.
struct StoredSize {
  size_t bytes = 0;        // packed codes; with their scales where the format keeps them together
  size_t scales = 0;       // f32 each
  size_t zero_points = 0;  // one byte each

  size_t total_bytes() const { return bytes + sizeof(float) * scales + zero_points; }
  bool operator==(const StoredSize&) const = default;
};

/// A packed matrix that somebody else owns, a mapped file for example. Nothing in it is trusted.
struct QuantizedView {
  size_t rows = 0;
  size_t cols = 0;
  std::span<const uint8_t> bytes;
  std::span<const float> scales;
  std::span<const uint8_t> zero_points;

  StoredSize size() const { return {bytes.size(), scales.size(), zero_points.size()}; }
};

/// A packed matrix and the name of its scheme (quant/scheme.hpp).
struct QuantizedMatrix {
  std::string scheme;
  size_t rows = 0;
  size_t cols = 0;
  std::vector<uint8_t> bytes;
  std::vector<float> scales;
  std::vector<uint8_t> zero_points;

  QuantizedView view() const { return {rows, cols, bytes, scales, zero_points}; }
};

}  // namespace trilobite::quant
