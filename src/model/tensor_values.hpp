#pragma once
// The values of a GGUF tensor as f32, whatever its type: the whole tensor, or a row at a time.

#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "gguf/gguf_file.hpp"
#include "quant/gguf_block.hpp"
#include "quant/i2s.hpp"
#include "quant/matrix.hpp"

namespace trilobite::model {

/// The packed matrix of a tensor: its rows and columns, and all its bytes.
quant::QuantizedView packed_view(const gguf::TensorInfo& tensor);

/// The error for a type that nothing here computes with; names tensor and type.
Error unsupported_type(const gguf::TensorInfo& tensor);

/// Errors: a type that cannot be computed with, a scale that is not finite, a code that means
/// nothing.
Result<std::vector<float>> tensor_values(const gguf::TensorInfo& tensor,
                                         quant::I2sLayout i2s_layout);

/// Rows of a tensor of numbers or blocks (I2_S has no rows of its own).
class RowReader {
 public:
  /// The tensor's bytes outlive the reader.
  static Result<RowReader> create(const gguf::TensorInfo& tensor);
  /// values[columns]; the row must exist. Blocks are not checked: a scale that is not finite gives
  /// values that are not finite.
  void read(size_t row, std::span<float> values) const;

 private:
  explicit RowReader(const gguf::TensorInfo& tensor) : tensor_(&tensor) {}
  const gguf::TensorInfo* tensor_;
  std::optional<quant::BlockFormat> blocks_;
};

}  // namespace trilobite::model
