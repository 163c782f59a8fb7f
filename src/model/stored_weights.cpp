#include "model/stored_weights.hpp"

#include <algorithm>
#include <atomic>

#include "kernels/block_product.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/group_repack.hpp"
#include "kernels/ternary_repack.hpp"
#include "kernels/ternary_scales.hpp"
#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"
#include "quant/i2s.hpp"

namespace trilobite::model {
namespace {

using kernels::Int8Groups;
using kernels::Int8Rows;
using kernels::StoredFormat;
using quant::kPanelRows;
using quant::QuantizedView;

// Up to so many tokens rows are multiplied as they are; for more, turning 64 rows at a time into
// tiles, which stay in the caches, costs less than decoding each row once per token.
constexpr size_t kFewTokens = 4;

/// Whether every f16 scale of the blocks is finite; if not, the error says which is not.
Result<void> check_scales(const quant::BlockFormat& format, const QuantizedView& packed,
                          ThreadPool& pool) {
  if (const auto right = check_block_bytes(format, packed); !right) return right;
  constexpr uint16_t kExponent = 0x7C00;
  std::atomic<bool> finite = true;
  pool.for_range(packed.bytes.size() / format.bytes, 1024, [&](size_t first, size_t last) {
    bool all = true;
    const uint8_t* scale = packed.bytes.data() + format.scale_offsets[0];
    for (size_t block = first; block < last; ++block) {
      const auto bits = quant::load_bytes<uint16_t>(scale + block * format.bytes);
      all = all && (bits & kExponent) != kExponent;
    }
    if (!all) finite = false;
  });
  return finite ? Result<void>() : check_blocks(format, packed);
}

Result<float> scale_of_i2s(const QuantizedView& packed, ThreadPool& pool) {
  constexpr auto kLayout = quant::I2sLayout::x86_block128;
  const auto scale = quant::i2s_scale(kLayout, packed);
  if (!scale) return scale;
  const auto codes = packed.bytes.first(packed.rows * packed.cols / 4);
  std::atomic<bool> right = true;
  pool.for_range(codes.size(), 4096, [&](size_t first, size_t last) {
    if (kernels::has_code_3(codes.subspan(first, last - first))) right = false;
  });
  if (!right) return fail_from(unpack_i2s(kLayout, packed));
  return scale;
}

/// The scales of ternary weights: nothing where a row has several.
Result<std::optional<std::vector<float>>> ternary_scales(StoredFormat format,
                                                         const QuantizedView& packed,
                                                         ThreadPool& pool) {
  if (format == StoredFormat::tq2_0) return kernels::scales_of_tq2(packed, pool);
  const auto scale = scale_of_i2s(packed, pool);
  if (!scale) return fail_from(scale);
  return std::vector{*scale};
}

std::string_view block_name(StoredFormat format) {
  return format == StoredFormat::q4_0 ? "q4_0" : format == StoredFormat::q8_0 ? "q8_0" : "q6_k";
}

}  // namespace

Result<std::optional<StoredWeights>> StoredWeights::look_at(StoredFormat format,
                                                            const QuantizedView& packed,
                                                            ThreadPool& pool) {
  if (!is_ternary(format)) {
    const auto right = check_scales(quant::block_format(block_name(format)), packed, pool);
    if (!right) return fail_from(right);
    return StoredWeights(format, packed, {});
  }
  auto scales = ternary_scales(format, packed, pool);
  if (!scales) return fail_from(scales);
  if (!*scales) return std::nullopt;
  return StoredWeights(format, packed, **std::move(scales));
}

Result<void> StoredWeights::make_input(ProjectionInput& input, ThreadPool& pool) const {
  return is_ternary(format_) ? input.make_rows(pool) : input.make_groups(pool);
}

size_t StoredWeights::unit_rows(size_t tokens) const {
  return tokens <= kFewTokens ? 1 : kPanelRows;
}

Result<void> StoredWeights::multiply(const ProjectionInput& input, size_t first, size_t last,
                                     float* out) const {
  return is_ternary(format_) ? multiply_by(input.rows(), first, last, out)
                             : multiply_by(input.groups(), first, last, out);
}

template <typename Activations>
Result<void> StoredWeights::multiply_by(const Activations& x, size_t first, size_t last,
                                        float* out) const {
  if (x.tokens <= kFewTokens) {
    multiply_few(x, first, last, out);
    return {};
  }
  for (size_t index = first; index < last; ++index) {
    const auto done = multiply_panel(x, index, out + index * kPanelRows);
    if (!done) return fail_from(done, "weights could not be unpacked");
  }
  return {};
}

void StoredWeights::multiply_few(const Int8Rows& x, size_t first, size_t last, float* out) const {
  kernels::stored_ternary_product({.weights = stored_rows(),
                                   .x = x,
                                   .row_scales = row_scales(0),
                                   .scale = scales_[0],
                                   .out = out,
                                   .out_stride = rows()},
                                  first, last);
}

void StoredWeights::multiply_few(const Int8Groups& x, size_t first, size_t last, float* out) const {
  kernels::stored_group_product(
      {.weights = stored_rows(), .x = x, .out = out, .out_stride = rows()}, first, last);
}

QuantizedView StoredWeights::panel(size_t index) const {
  const size_t first = index * kPanelRows;
  const size_t count = std::min(kPanelRows, rows() - first);
  const size_t row_bytes = stored_rows().row_bytes();
  return {.rows = count,
          .cols = columns(),
          .bytes = packed_.bytes.subspan(first * row_bytes, count * row_bytes)};
}

Result<void> StoredWeights::multiply_panel(const Int8Rows& x, size_t index, float* out) const {
  const auto tiles = kernels::tile_ternary_rows(format_ == StoredFormat::tq2_0
                                                    ? kernels::TernaryCodes::tq2_0
                                                    : kernels::TernaryCodes::i2s_block128,
                                                panel(index));
  if (!tiles) return fail_from(tiles);
  kernels::ternary_product({.weights = *tiles,
                            .x = x,
                            .row_scales = row_scales(index * kPanelRows),
                            .scale = scales_[0],
                            .out = out,
                            .out_stride = rows()},
                           0, 1);
  return {};
}

Result<void> StoredWeights::multiply_panel(const Int8Groups& x, size_t index, float* out) const {
  ThreadPool alone(1);
  if (format_ == StoredFormat::q6_k) {
    const auto tiles = kernels::repack_blocks(quant::TiledBlocks::q6_k, panel(index), alone);
    if (!tiles) return fail_from(tiles);
    kernels::block_product({.weights = *tiles, .x = x, .out = out, .out_stride = rows()}, 0, 1);
    return {};
  }
  const auto blocks =
      format_ == StoredFormat::q4_0 ? kernels::GroupBlocks::q4_0 : kernels::GroupBlocks::q8_0;
  const auto tiles = kernels::repack_groups(blocks, panel(index), alone);
  if (!tiles) return fail_from(tiles);
  kernels::group_product({.weights = *tiles, .x = x, .out = out, .out_stride = rows()}, 0, 1);
  return {};
}

}  // namespace trilobite::model
