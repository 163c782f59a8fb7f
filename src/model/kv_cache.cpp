#include "model/kv_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/absmax.hpp"
#include "kernels/convert.hpp"

namespace trilobite::model {
namespace {

using kernels::KvType;

// Rows that are all zero, or nearly so, still need a scale to divide by.
constexpr float kLeastMagnitude = 1e-30f;

}  // namespace

Result<KvCache> KvCache::create(const KvShape& shape, KvType type) {
  KvCache cache;
  cache.shape_ = shape;
  cache.type_ = type;
  cache.lengths_.assign(shape.sequences, 0);
  size_t rows = shape.layers;
  size_t bytes = 0;
  for (const size_t factor : {shape.sequences, shape.capacity, shape.kv_heads}) {
    if (__builtin_mul_overflow(rows, factor, &rows))
      return fail("a cache of keys and values of this size is impossible");
  }
  if (__builtin_mul_overflow(rows, shape.head_size * sizeof(float), &bytes))
    return fail("a cache of keys and values of this size is impossible");
  const auto allocate = [](AlignedBuffer& to, size_t size) -> Result<void> {
    auto buffer = AlignedBuffer::allocate(size, AlignedBuffer::Pages::ordinary);
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

size_t KvCache::row(size_t layer, size_t sequence, size_t kv_head) const {
  return ((layer * shape_.sequences + sequence) * shape_.kv_heads + kv_head) * shape_.capacity;
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
  for (size_t head = 0; head < shape_.kv_heads; ++head) {
    const size_t at = row(slot.layer, slot.sequence, head) + slot.position;
    store_row(keys_, key_scales_, at, k + head * shape_.head_size);
    store_row(values_, value_scales_, at, v + head * shape_.head_size);
  }
}

kernels::KvHead KvCache::head(size_t layer, size_t sequence, size_t kv_head) const {
  const size_t at = row(layer, sequence, kv_head);
  const size_t bytes = at * shape_.head_size * kernels::bytes_of(type_);
  const auto scales = [&](const AlignedBuffer& buffer) {
    return type_ == KvType::int8 ? reinterpret_cast<const float*>(buffer.data()) + at : nullptr;
  };
  return {.type = type_,
          .keys = keys_.data() + bytes,
          .values = values_.data() + bytes,
          .stride = shape_.head_size,
          .key_scales = scales(key_scales_),
          .value_scales = scales(value_scales_)};
}

}  // namespace trilobite::model
