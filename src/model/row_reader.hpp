#pragma once
// Single rows of a tensor as f32, without allocating: an embedding is read this way.

#include <optional>
#include <span>

#include "base/error.hpp"
#include "gguf/gguf_file.hpp"
#include "quant/gguf_block.hpp"
#include "quant/i2s.hpp"
#include "tensor/dtype.hpp"

namespace trilobite::model {

/// The element type of a tensor of plain floats; nothing for blocks.
std::optional<DType> float_type(gguf::TensorType type);

/// Rows of a tensor of floats, blocks or I2_S.
class RowReader {
 public:
  /// The tensor's bytes outlive the reader.
  static Result<RowReader> create(const gguf::TensorInfo& tensor, quant::I2sLayout i2s_layout);
  /// values[columns]; the row must exist. Blocks are not checked: a scale that is not finite gives
  /// values that are not finite.
  void read(size_t row, std::span<float> values) const;

 private:
  explicit RowReader(const gguf::TensorInfo& tensor) : tensor_(&tensor) {}
  const gguf::TensorInfo* tensor_;
  std::optional<quant::BlockFormat> blocks_;
  quant::I2sLayout i2s_layout_ = quant::I2sLayout::x86_block128;
  float i2s_scale_ = 0;
};

}  // namespace trilobite::model
