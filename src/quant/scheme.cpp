#include "quant/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trilobite::quant {
namespace {

Result<void> check_shape(const Scheme& scheme, size_t rows, size_t cols) {
  if (const auto elements = count_elements(rows, cols); !elements) return fail_from(elements);
  if (cols % scheme.column_multiple != 0) {
    return fail(fmt::format("{} packs blocks of {} columns, and {} is no multiple of that",
                            scheme.name, scheme.column_multiple, cols));
  }
  if (rows % scheme.row_multiple != 0) {
    return fail(fmt::format("{} packs blocks of {} rows, and {} is no multiple of that",
                            scheme.name, scheme.row_multiple, rows));
  }
  return {};
}

Result<void> check_weights(const Scheme& scheme, MatrixView weights) {
  const auto values = weights.values();
  // NaN compares false, so it is found as well.
  const auto bad = std::ranges::find_if_not(
      values, [&](float w) { return std::abs(w) <= scheme.largest_magnitude; });
  if (bad == values.end()) return {};
  const auto index = static_cast<size_t>(bad - values.begin());
  const auto place = fmt::format("the weight at row {}, column {}", index / weights.cols(),
                                 index % weights.cols());
  if (!std::isfinite(*bad)) return fail(fmt::format("{} is {}; it must be finite", place, *bad));
  return fail(fmt::format("{} is {}; {} holds magnitudes up to {}", place, *bad, scheme.name,
                          scheme.largest_magnitude));
}

Result<void> check_scales(const Scheme& scheme, std::span<const float> scales) {
  for (size_t i = 0; i < scales.size(); ++i) {
    if (std::isfinite(scales[i]) && scales[i] >= 0) continue;
    return fail(fmt::format("scale {} of this {} matrix is {}; it must be finite and not negative",
                            i, scheme.name, scales[i]));
  }
  return {};
}

std::string describe(const StoredSize& size) {
  std::string text = fmt::format("{} bytes", size.bytes);
  if (size.scales != 0) text += fmt::format(", {} scales", size.scales);
  if (size.zero_points != 0) text += fmt::format(", {} zero points", size.zero_points);
  return text;
}

}  // namespace

std::string_view name_of(Granularity granularity) {
  switch (granularity) {
    case Granularity::none: return "none";
    case Granularity::tensor: return "tensor";
    case Granularity::channel: return "channel";
    case Granularity::group: return "group";
    case Granularity::block: return "block";
  }
  return "";
}

Result<StoredSize> stored_size(const Scheme& scheme, size_t rows, size_t cols) {
  if (auto fits = check_shape(scheme, rows, cols); !fits) return fail_from(fits);
  return scheme.size(rows, cols);
}

Result<QuantizedMatrix> quantize(const Scheme& scheme, MatrixView weights) {
  const auto size = stored_size(scheme, weights.rows(), weights.cols());
  if (!size) return fail_from(size);
  if (auto right = check_weights(scheme, weights); !right) return fail_from(right);
  QuantizedMatrix packed{.scheme = scheme.name, .rows = weights.rows(), .cols = weights.cols()};
  packed.bytes.resize(size->bytes);
  packed.scales.resize(size->scales);
  packed.zero_points.resize(size->zero_points);
  scheme.encode(weights, packed);
  return packed;
}

Result<std::vector<float>> dequantize(const Scheme& scheme, const QuantizedView& packed) {
  const auto size = stored_size(scheme, packed.rows, packed.cols);
  if (!size) return fail_from(size);
  if (packed.size() != *size) {
    return fail(fmt::format("{} of {} x {} weights takes {}; there are {}", scheme.name,
                            packed.rows, packed.cols, describe(*size), describe(packed.size())));
  }
  if (auto right = check_scales(scheme, packed.scales); !right) return fail_from(right);
  // After the size check: a hostile shape cannot ask for more memory than its bytes account for.
  std::vector<float> values(packed.rows * packed.cols);
  if (auto done = scheme.decode(packed, values); !done) return fail_from(done);
  return values;
}

Result<std::vector<float>> dequantize(const QuantizedMatrix& packed) {
  const auto scheme = find_scheme(packed.scheme);
  if (!scheme) return fail_from(scheme);
  return dequantize(*scheme, packed.view());
}

}  // namespace trilobite::quant
