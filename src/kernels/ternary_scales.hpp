#pragma once
// Ternary block formats keep a scale for every 256 columns, the products want one for a row or for
// the whole tensor: whether a tensor's scales are so, and which they are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "quant/gguf_block.hpp"

namespace trilobite::kernels {

/// Filled row by row, by threads that take different rows.
class TernaryBlockScales {
 public:
  /// tq1_0 or tq2_0, with as many bytes as the shape takes.
  TernaryBlockScales(const quant::BlockFormat& format, const quant::QuantizedView& packed)
      : format_(format),
        packed_(packed),
        blocks_(packed.cols / format.columns),
        rows_(packed.rows) {}

  /// Looks at rows [first, last); whether the scales are shared within each of them.
  bool look_at(size_t first, size_t last);

  /// Of all rows, once each has been looked at.
  bool are_finite() const;
  /// Blocks in which every weight is 0 agree with any scale.
  bool are_shared_in_rows() const;
  /// One scale when all rows with weights other than 0 have the same, else one for each row.
  std::vector<float> joined() const;

 private:
  struct Row {
    uint16_t bits = 0;  // f16
    bool finite = true;
    bool shared = true;  // by all blocks with weights other than 0
  };
  Row scale_of(size_t row) const;
  bool has_weights(size_t row) const;
  const uint8_t* block(size_t row, size_t b) const;
  uint16_t bits_of(size_t row, size_t b) const;
  bool block_has_weights(size_t row, size_t b) const;
  void share_among_weights(size_t row, Row& scale) const;

  const quant::BlockFormat& format_;
  const quant::QuantizedView& packed_;
  size_t blocks_;  // of a row
  std::vector<Row> rows_;
};

/// Whether a byte holds a 2-bit code 3, which is no weight.
bool has_code_3(std::span<const uint8_t> bytes);

/// The scales (one, or one a row) of a tq2_0 tensor that can be multiplied as it lies in its file.
/// No value: they differ within a row. Errors: as repack_ternary_blocks has them.
Result<std::optional<std::vector<float>>> scales_of_tq2(const quant::QuantizedView& packed,
                                                        ThreadPool& pool);

}  // namespace trilobite::kernels
