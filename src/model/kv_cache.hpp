#pragma once
// Keys and values of the tokens that a model has seen, for several sequences.

#include <cstddef>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "kernels/attention.hpp"

namespace trilobite::model {

struct KvShape {
  size_t layers;
  size_t sequences;
  size_t capacity;  // positions of a sequence
  size_t kv_heads;
  size_t head_size;
};

/// Blocks of kKvBlock positions, each with the rows of all layers and heads: memory is touched as a
/// sequence grows, and still in stretches that huge pages can hold.
class KvCache {
 public:
  /// Takes all its memory at once.
  static Result<KvCache> create(const KvShape& shape, kernels::KvType type);

  const KvShape& shape() const { return shape_; }
  kernels::KvType type() const { return type_; }
  size_t bytes() const {
    return keys_.size() + values_.size() + key_scales_.size() + value_scales_.size();
  }
  /// Bytes of one position in all layers.
  size_t position_bytes() const;

  /// Tokens that are in the cache.
  size_t length(size_t sequence) const { return lengths_[sequence]; }
  /// Forgets everything from `length` on, or makes what was stored up to there count.
  void set_length(size_t sequence, size_t length);

  struct Slot {
    size_t layer;
    size_t sequence;
    size_t position;
  };
  /// k and v are [kv_heads * head_size].
  void store(const Slot& slot, const float* k, const float* v);
  kernels::KvHead head(size_t layer, size_t sequence, size_t kv_head) const;

 private:
  KvCache() = default;
  /// The row of position 0.
  size_t first_row(size_t layer, size_t sequence, size_t kv_head) const;
  size_t block_rows() const;
  void store_row(AlignedBuffer& to, AlignedBuffer& scales, size_t row, const float* x);

  KvShape shape_{};
  kernels::KvType type_ = kernels::KvType::f16;
  size_t block_positions_ = 1;
  size_t blocks_ = 0;  // of a sequence
  AlignedBuffer keys_, values_, key_scales_, value_scales_;
  std::vector<size_t> lengths_;
};

}  // namespace trilobite::model
