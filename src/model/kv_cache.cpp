#include "model/kv_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/absmax.hpp"
#include "kernels/convert.hpp"

namespace trilobite::model {
namespace {

using kernels::kKvBlock;
using kernels::KvType;

// Rows that are all zero, or nearly so, still need a scale to divide by.
constexpr float kLeastMagnitude = 1e-30f;

}  // namespace

Result<KvCache> KvCache::create(const KvShape& shape, KvType type) {
  KvCache cache;
  cache.shape_ = shape;
  cache.type_ = type;
  cache.lengths_.assign(shape.sequences, 0);
  cache.block_positions_ = std::clamp<size_t>(shape.capacity, 1, kKvBlock);
  cache.blocks_ = shape.capacity / cache.block_positions_ +
                  (shape.capacity % cache.block_positions_ == 0 ? 0 : 1);
  size_t rows = shape.layers;
  size_t bytes = 0;
  for (const size_t factor :
       {shape.sequences, cache.blocks_, cache.block_positions_, shape.kv_heads}) {
    if (__builtin_mul_overflow(rows, factor, &rows))
      return fail("a cache of keys and values of this size is impossible");
  }
  if (__builtin_mul_overflow(rows, shape.head_size * sizeof(float), &bytes))
    return fail("a cache of keys and values of this size is impossible");
  const auto allocate = [](AlignedBuffer& to, size_t size) -> Result<void> {
    auto buffer = AlignedBuffer::allocate(size);
    if (!buffer) return fail_from(buffer, "the cache of keys and values");
    to = *std::move(buffer);
    return {};
  };
  const size_t row_bytes = shape.head_size * kernels::bytes_of(type);
  Result<void> done = allocate(cache.keys_, rows * row_bytes);
  if (done) done = allocate(cache.values_, rows * row_bytes);
  const size_t scales = type == KvType::int8 ? rows * sizeof(float) : 0;
  if (done) done = allocate(cache.key_scales_, scales);
  if (done) done = allocate(cache.value_scales_, scales);
  if (!done) return fail_from(done);
  return cache;
}

size_t KvCache::position_bytes() const {
  const size_t scale = type_ == KvType::int8 ? sizeof(float) : 0;
  return 2 * shape_.layers * shape_.kv_heads *
         (shape_.head_size * kernels::bytes_of(type_) + scale);
}

void KvCache::set_length(size_t sequence, size_t length) {
  TRILOBITE_CHECK(sequence < shape_.sequences && length <= shape_.capacity);
  lengths_[sequence] = length;
}

size_t KvCache::block_rows() const { return shape_.layers * shape_.kv_heads * block_positions_; }

size_t KvCache::first_row(size_t layer, size_t sequence, size_t kv_head) const {
  return sequence * blocks_ * block_rows() + (layer * shape_.kv_heads + kv_head) * block_positions_;
}

void KvCache::store_row(AlignedBuffer& to, AlignedBuffer& scales, size_t row, const float* x) {
  const size_t size = shape_.head_size;
  std::byte* at = to.data() + row * size * kernels::bytes_of(type_);
  if (type_ == KvType::int8) {
    const auto result = kernels::quantize_absmax({.x = x,
                                                  .columns = size,
                                                  .padded_columns = size,
                                                  .epsilon = kLeastMagnitude,
                                                  .codes = reinterpret_cast<int8_t*>(at)});
    // NaN and infinity must show in the output, not become some number.
    scales.as<float>()[row] = result.is_finite ? result.scale : std::nanf("");
    return;
  }
  kernels::from_f32({type_ == KvType::f32 ? DType::f32 : DType::f16, x, at, size});
}

void KvCache::store(const Slot& slot, const float* k, const float* v) {
  TRILOBITE_CHECK(slot.position < shape_.capacity && slot.sequence < shape_.sequences);
  const size_t within = kernels::row_of_position(slot.position, block_rows());
  for (size_t head = 0; head < shape_.kv_heads; ++head) {
    const size_t at = first_row(slot.layer, slot.sequence, head) + within;
    store_row(keys_, key_scales_, at, k + head * shape_.head_size);
    store_row(values_, value_scales_, at, v + head * shape_.head_size);
  }
}

kernels::KvHead KvCache::head(size_t layer, size_t sequence, size_t kv_head) const {
  const size_t at = first_row(layer, sequence, kv_head);
  const size_t bytes = at * shape_.head_size * kernels::bytes_of(type_);
  const auto scales = [&](const AlignedBuffer& buffer) {
    return type_ == KvType::int8 ? reinterpret_cast<const float*>(buffer.data()) + at : nullptr;
  };
  return {.type = type_,
          .keys = keys_.data() + bytes,
          .values = values_.data() + bytes,
          .stride = shape_.head_size,
          .block_rows = block_rows(),
          .key_scales = scales(key_scales_),
          .value_scales = scales(value_scales_)};
}

}  // namespace trilobite::model
