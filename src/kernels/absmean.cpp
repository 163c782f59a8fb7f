#include "kernels/absmean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quant/bitnet.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/absmean.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels {

#ifndef TRILOBITE_KERNELS_ABSMEAN_ROW
#define TRILOBITE_KERNELS_ABSMEAN_ROW
/// Where one row of weights goes: four bytes in each block.
struct TernaryRow {
  const float* weights;
  size_t columns;
  float threshold;  // the least weight that becomes 1
  uint8_t* out;     // of the row's first block
  size_t block_stride;
};
#endif

namespace HWY_NAMESPACE {

/// Sum of |x| in double. Element i goes to sum i mod 16, so that the result is the same on every
/// instruction set.
double sum_of_magnitudes(const float* x, size_t count) {
  constexpr size_t kSums = 16;
  const hn::CappedTag<double, kSums> d64;
  const hn::Rebind<float, decltype(d64)> d32;
  constexpr size_t kWide = hn::MaxLanes(d64);
  constexpr size_t kVectors = kSums / kWide;
  hn::Vec<decltype(d64)> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d64);
  const size_t whole = count / kSums * kSums;
  for (size_t i = 0; i < whole; i += kSums) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) {
      const auto magnitude = hn::Abs(hn::LoadU(d32, x + i + v * kWide));
      sums[v] = hn::Add(sums[v], hn::PromoteTo(d64, magnitude));
    }
  }
  HWY_ALIGN double lanes[kSums];
  for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d64, lanes + v * kWide);
  for (size_t i = whole; i < count; ++i) lanes[i - whole] += std::abs(static_cast<double>(x[i]));
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

#if HWY_TARGET == HWY_SCALAR

/// The byte of each of the four columns at `x`, from the codes of kPlanes quads.
template <size_t kPlanes>
HWY_INLINE void pack_block(const float* x, float threshold, uint8_t* out) {
  for (size_t b = 0; b < quant::kQuad; ++b) {
    uint8_t codes[kPlanes];
    for (size_t p = 0; p < kPlanes; ++p) {
      const float weight = x[p * quant::kQuad + b];
      codes[p] = static_cast<uint8_t>(1 + (weight >= threshold) - (weight <= -threshold));
    }
    constexpr auto kForm =
        kPlanes == 4 ? quant::TernaryForm::two_bit : quant::TernaryForm::five_trits_a_byte;
    out[b] = quant::pack_codes(kForm, codes);
  }
}

#else

/// Codes 0, 1, 2 of four weights.
HWY_INLINE hn::Vec128<int32_t> quad_codes(const float* x, float threshold) {
  const hn::Full128<float> d;
  const hn::Full128<int32_t> di;
  const auto weights = hn::LoadU(d, x);
  const auto above = hn::VecFromMask(d, hn::Ge(weights, hn::Set(d, threshold)));
  const auto below = hn::VecFromMask(d, hn::Le(weights, hn::Set(d, -threshold)));
  // Masks are -1 where true.
  const auto one = hn::Set(di, 1);
  return hn::Add(hn::Sub(one, hn::BitCast(di, above)), hn::BitCast(di, below));
}

template <size_t kPlanes>
HWY_INLINE void pack_block(const float* x, float threshold, uint8_t* out) {
  const hn::Full128<int32_t> di;
  using quant::kQuad;
  auto packed = quad_codes(x, threshold);
  if constexpr (kPlanes == 4) {
    packed = hn::Or(packed, hn::ShiftLeft<2>(quad_codes(x + kQuad, threshold)));
    packed = hn::Or(packed, hn::ShiftLeft<4>(quad_codes(x + 2 * kQuad, threshold)));
    packed = hn::Or(packed, hn::ShiftLeft<6>(quad_codes(x + 3 * kQuad, threshold)));
  } else {
    HWY_UNROLL(4)
    for (size_t p = 1; p < kPlanes; ++p) {
      const auto tripled = hn::Add(packed, hn::Add(packed, packed));
      packed = hn::Add(tripled, quad_codes(x + p * kQuad, threshold));
    }
  }
  const hn::Rebind<uint8_t, decltype(di)> d8;
  hn::StoreU(hn::DemoteTo(d8, packed), d8, out);
}

#endif

template <size_t kPlanes>
HWY_INLINE void pack_row(const TernaryRow& row) {
  constexpr size_t kColumns = kPlanes * quant::kQuad;
  const size_t whole = row.columns / kColumns;
  uint8_t* out = row.out;
  for (size_t block = 0; block < whole; ++block, out += row.block_stride) {
    pack_block<kPlanes>(row.weights + block * kColumns, row.threshold, out);
  }
  if (whole * kColumns == row.columns) return;
  float rest[kColumns] = {};
  std::copy(row.weights + whole * kColumns, row.weights + row.columns, rest);
  pack_block<kPlanes>(rest, row.threshold, out);
}

void pack_row_for_target(const TernaryRow& row, quant::TernaryForm form) {
  form == quant::TernaryForm::two_bit ? pack_row<4>(row) : pack_row<5>(row);
}

}  // namespace HWY_NAMESPACE
}  // namespace trilobite::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {
namespace {

HWY_EXPORT(sum_of_magnitudes);
HWY_EXPORT(pack_row_for_target);

/// The least weight that the rule makes 1: dividing is monotone, so the codes can be found by
/// comparing, without dividing each weight.
float threshold_for(float gamma) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float divisor = gamma + quant::kBitnetEpsilon;
  float threshold = 0.5f * divisor;
  while (threshold / divisor > 0.5f) threshold = std::nextafter(threshold, 0.0f);
  while (!(threshold / divisor > 0.5f)) threshold = std::nextafter(threshold, kInfinity);
  return threshold;
}

std::vector<float> scales_of(quant::MatrixView weights, bool per_channel, ThreadPool& pool) {
  std::vector<double> sums(weights.rows());
  // At least 64 KB for a thread: less is read in the time it takes to hand it over.
  const size_t grain = 16 + (size_t{1} << 14) / weights.cols();
  pool.for_range(weights.rows(), grain, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      const auto row = weights.row(r);
      sums[r] = HWY_DYNAMIC_DISPATCH(sum_of_magnitudes)(row.data(), row.size());
    }
  });
  const auto columns = static_cast<double>(weights.cols());
  if (!per_channel) {
    double total = 0;
    for (const double sum : sums) total += sum;
    return {static_cast<float>(total / columns / static_cast<double>(weights.rows()))};
  }
  std::vector<float> scales;
  for (const double sum : sums) scales.push_back(static_cast<float>(sum / columns));
  return scales;
}

/// The row's four bytes in the first block of its tile.
TernaryRow row_in_tiles(quant::MatrixView weights, size_t row, quant::TernaryTiles& tiles) {
  const size_t panel = row / quant::kPanelRows;
  const size_t inside = row % quant::kPanelRows;
  const size_t tile = inside / quant::kTileRows;
  uint8_t* out =
      tiles.panel(panel) + tile * quant::kTileBlockBytes + inside % quant::kTileRows * quant::kQuad;
  return {.weights = weights.row(row).data(),
          .columns = weights.cols(),
          .threshold = 0,
          .out = out,
          .block_stride = tiles.tiles_of_panel(panel) * quant::kTileBlockBytes};
}

}  // namespace

Result<TernaryWeights> quantize_absmean_tiles(quant::MatrixView weights,
                                              const AbsmeanTilesOptions& options,
                                              ThreadPool& pool) {
  auto scales = scales_of(weights, options.per_channel, pool);
  for (const float scale : scales) {
    if (!std::isfinite(scale)) return fail("a weight is NaN or infinite");
  }
  auto tiles = quant::TernaryTiles::create(weights.rows(), weights.cols(), options.form);
  if (!tiles) return fail_from(tiles);
  std::vector<float> thresholds;
  for (const float scale : scales) thresholds.push_back(threshold_for(scale));
  pool.for_range(weights.rows(), quant::kPanelRows, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      auto row = row_in_tiles(weights, r, *tiles);
      row.threshold = thresholds[thresholds.size() == 1 ? 0 : r];
      HWY_DYNAMIC_DISPATCH(pack_row_for_target)(row, options.form);
    }
  });
  return TernaryWeights{*std::move(tiles), std::move(scales)};
}

}  // namespace trilobite::kernels
#endif
