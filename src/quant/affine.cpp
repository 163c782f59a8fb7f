#include "quant/affine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

/// w = (code - zero) * scale, codes in [lowest, highest].
struct Grid {
  float scale = 0;
  int zero = 0;
  int lowest = 0;
  int highest = 0;
};

/// Symmetric codes are -127..127 or -7..7: -128 and -8 would have no positive counterpart.
Grid symmetric_grid(unsigned bits, std::span<const float> weights) {
  const int highest = (1 << (bits - 1)) - 1;
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::abs(weight));
  return {largest / static_cast<float>(highest), 0, -highest, highest};
}

/// Asymmetric codes are 0..255 or 0..15. The range always holds 0, so that 0 is exact.
Grid asymmetric_grid(unsigned bits, std::span<const float> weights) {
  const int highest = (1 << bits) - 1;
  float low = 0;
  float high = 0;
  for (const float weight : weights) {
    low = std::min(low, weight);
    high = std::max(high, weight);
  }
  const float scale = (high - low) / static_cast<float>(highest);
  const int zero = scale > 0 ? round_clipped(-low / scale, 0, highest) : 0;
  return {scale, zero, 0, highest};
}

Grid grid_of(const AffineRule& rule, std::span<const float> weights) {
  return rule.symmetric ? symmetric_grid(rule.bits, weights) : asymmetric_grid(rule.bits, weights);
}

void quantize_span(std::span<const float> weights, const Grid& grid, int16_t* codes) {
  if (!(grid.scale > 0)) {  // all zero, or so small that the scale underflowed
    std::fill_n(codes, weights.size(), static_cast<int16_t>(grid.zero));
    return;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const int steps =
        round_clipped(weights[i] / grid.scale, grid.lowest - grid.zero, grid.highest - grid.zero);
    codes[i] = static_cast<int16_t>(steps + grid.zero);
  }
}

/// Nibbles of symmetric int4 hold code + 8; bytes of symmetric int8 are two's complement.
constexpr int kSymmetricNibbleOffset = 8;

size_t packed_row_bytes(const AffineRule& rule, size_t cols) {
  return rule.bits == 8 ? cols : (cols + 1) / 2;
}

void pack_row(const AffineRule& rule, std::span<const int16_t> codes, uint8_t* packed) {
  if (rule.bits == 8) {
    std::ranges::transform(codes, packed, [](int16_t code) { return static_cast<uint8_t>(code); });
    return;
  }
  const int offset = rule.symmetric ? kSymmetricNibbleOffset : 0;
  for (size_t i = 0; i < codes.size(); i += 2) {
    const int low = codes[i] + offset;
    const int high = i + 1 < codes.size() ? codes[i + 1] + offset : 0;
    packed[i / 2] = static_cast<uint8_t>(low | high << 4);
  }
}

void unpack_row(const AffineRule& rule, const uint8_t* packed, std::span<int16_t> codes) {
  if (rule.bits == 4) {
    const int offset = rule.symmetric ? kSymmetricNibbleOffset : 0;
    for (size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<int16_t>((packed[i / 2] >> 4 * (i % 2) & 15) - offset);
    }
  } else if (rule.symmetric) {
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int8_t>(packed[i]);
  } else {
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = packed[i];
  }
}

/// The groups of a row, and where their scales are. A row without groups is one group.
struct Groups {
  AffineSpan span;
  size_t cols;
  size_t width;
  size_t count;

  Groups(const AffineRule& rule, size_t columns)
      : span(rule.span),
        cols(columns),
        width(span == AffineSpan::group ? rule.group_size : columns),
        count((columns + width - 1) / width) {}

  size_t begin(size_t group) const { return group * width; }
  size_t length(size_t group) const { return std::min(width, cols - begin(group)); }
  size_t scale_index(size_t row, size_t group) const {
    return span == AffineSpan::tensor ? 0 : row * count + group;
  }
};

}  // namespace

StoredSize affine_size(const AffineRule& rule, size_t rows, size_t cols) {
  const size_t scales = rule.span == AffineSpan::tensor ? 1 : rows * Groups(rule, cols).count;
  return {.bytes = rows * packed_row_bytes(rule, cols),
          .scales = scales,
          .zero_points = rule.symmetric ? 0 : scales};
}

void quantize_affine(const AffineRule& rule, MatrixView weights, QuantizedMatrix& packed) {
  const Groups groups(rule, weights.cols());
  const bool shared = rule.span == AffineSpan::tensor;
  const Grid shared_grid = shared ? grid_of(rule, weights.values()) : Grid();
  std::vector<int16_t> codes(weights.cols());
  for (size_t r = 0; r < weights.rows(); ++r) {
    for (size_t g = 0; g < groups.count; ++g) {
      const auto part = weights.row(r).subspan(groups.begin(g), groups.length(g));
      const Grid grid = shared ? shared_grid : grid_of(rule, part);
      quantize_span(part, grid, codes.data() + groups.begin(g));
      const size_t at = groups.scale_index(r, g);
      packed.scales[at] = grid.scale;
      if (!rule.symmetric) packed.zero_points[at] = static_cast<uint8_t>(grid.zero);
    }
    pack_row(rule, codes, packed.bytes.data() + r * packed_row_bytes(rule, weights.cols()));
  }
}

Result<void> dequantize_affine(const AffineRule& rule, const QuantizedView& packed,
                               std::span<float> values) {
  const int highest = (1 << rule.bits) - 1;
  for (const uint8_t zero : packed.zero_points) {
    if (zero > highest) {
      return fail(fmt::format("a zero point of {}; the codes end at {}", zero, highest));
    }
  }
  const Groups groups(rule, packed.cols);
  std::vector<int16_t> codes(packed.cols);
  for (size_t r = 0; r < packed.rows; ++r) {
    unpack_row(rule, packed.bytes.data() + r * packed_row_bytes(rule, packed.cols), codes);
    for (size_t g = 0; g < groups.count; ++g) {
      const size_t at = groups.scale_index(r, g);
      const int zero = rule.symmetric ? 0 : packed.zero_points[at];
      const float scale = packed.scales[at];
      for (size_t i = groups.begin(g); i < groups.begin(g) + groups.length(g); ++i) {
        values[r * packed.cols + i] = static_cast<float>(codes[i] - zero) * scale;
      }
    }
  }
  return {};
}

}  // namespace trilobite::quant
