#include "quant/i2s_layout_guess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

// Nonzero weights are at least kI2sZeroBelow in magnitude; none of a trained model reach this.
constexpr double kLargestPlausibleScale = 1e4;
// By Cantelli's inequality chance exceeds this in at most one case of 26, in practice far fewer.
constexpr double kConvincing = 5;
// A t-statistic of fewer units than this has no business convincing anybody.
constexpr size_t kFewestUnits = 8;

Result<void> check_is_i2s(const QuantizedView& packed) {
  const auto elements = count_elements(packed.rows, packed.cols);
  if (!elements) return fail_from(elements);
  const size_t expected = *elements / 4 + kI2sTailBytes;
  if (*elements % 4 != 0 || packed.bytes.size() != expected) {
    return fail(fmt::format("I2_S of {} x {} weights takes {} bytes, there are {}", packed.rows,
                            packed.cols, expected, packed.bytes.size()));
  }
  for (size_t i = 0; i < *elements / 4; ++i) {
    if ((packed.bytes[i] & packed.bytes[i] >> 1 & 0x55) != 0) {
      return fail(fmt::format("byte {} holds code 3; the codes of I2_S are 0, 1 and 2", i));
    }
  }
  const auto scale = load_bytes<float>(packed.bytes.data() + *elements / 4);
  // Weights that are all zero, or below what the writer takes for zero, may have any small scale.
  constexpr uint8_t kFourZeros = 0x55;
  const bool all_zero = std::ranges::all_of(packed.bytes.first(*elements / 4),
                                            [](uint8_t byte) { return byte == kFourZeros; });
  if (all_zero && scale >= 0 && scale < kI2sZeroBelow) return {};
  if (!(scale >= kI2sZeroBelow && scale <= kLargestPlausibleScale)) {
    return fail(fmt::format("the I2_S scale would be {}, which no weights have", scale));
  }
  return {};
}

/// Zeros among codes `plane` (0: highest bits) of some bytes.
double count_zeros(std::span<const uint8_t> bytes, size_t plane) {
  const auto shift = 6 - 2 * static_cast<unsigned>(plane);
  return static_cast<double>(
      std::ranges::count_if(bytes, [shift](uint8_t byte) { return (byte >> shift & 3) == 1; }));
}

/// One row of counts per unit (a group of rows, a window of columns), all of the same length.
using Counts = std::vector<std::vector<double>>;

/// What all units have in common says nothing about the unit: takes the mean over the units off.
void remove_common_part(Counts& counts) {
  for (size_t i = 0; i < counts[0].size(); ++i) {
    double sum = 0;
    for (const auto& unit : counts) sum += unit[i];
    for (auto& unit : counts) unit[i] -= sum / static_cast<double>(counts.size());
  }
}

double spread(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares - sum * sum / static_cast<double>(values.size());
}

/// Mean over its standard error; 0 when there are too few units or they do not vary.
double t_statistic(const std::vector<double>& values) {
  if (values.size() < kFewestUnits) return 0;
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double variance = spread(values) / (n - 1);
  return variance > 0 ? sum / n / std::sqrt(variance / n) : 0;
}

/// From -1 to 1: how much more one division of the same counts differs between its parts than
/// another. Codes without structure favour neither, by symmetry; being bounded, no single unit can
/// decide for all.
double preference(double one, double other) {
  return one + other > 0 ? (one - other) / (one + other) : 0;
}

/// Four rows take `cols` bytes in every layout. Row after row, each row is a quarter of the bytes;
/// in the four-row layout it is one plane of bits. Rows differ in their zeros, mixtures of rows do
/// not. Positive: rows lie one after another; negative: four interleaved.
double evidence_for_contiguous_rows(const QuantizedView& packed) {
  Counts quarters;
  Counts planes;
  for (size_t at = 0; at + packed.cols <= packed.rows * packed.cols / 4; at += packed.cols) {
    const auto group = packed.bytes.subspan(at, packed.cols);
    auto& by_quarter = quarters.emplace_back(4);
    auto& by_plane = planes.emplace_back(4);
    for (size_t i = 0; i < 4; ++i) {
      by_plane[i] = count_zeros(group, i);
      const auto quarter = group.subspan(i * packed.cols / 4, packed.cols / 4);
      for (size_t plane = 0; plane < 4; ++plane) by_quarter[i] += count_zeros(quarter, plane);
    }
  }
  remove_common_part(quarters);
  remove_common_part(planes);
  std::vector<double> preferences;
  for (size_t g = 0; g < quarters.size(); ++g) {
    preferences.push_back(preference(spread(quarters[g]), spread(planes[g])));
  }
  return t_statistic(preferences);
}

/// 32 bytes are 128 columns in both block layouts. The first 64 of them are planes 0 and 1 in
/// blocks of 128, the first 16 bytes in blocks of 64; so four counts, of two planes of 16 bytes
/// each, hold both divisions.
double evidence_for_128(const QuantizedView& packed) {
  const size_t row_bytes = packed.cols / 4;
  Counts windows(row_bytes / 32, std::vector<double>(4));
  for (size_t r = 0; r < packed.rows; ++r) {
    for (size_t w = 0; w < windows.size(); ++w) {
      for (size_t half = 0; half < 2; ++half) {
        const auto bytes = packed.bytes.subspan(r * row_bytes + 32 * w + 16 * half, 16);
        windows[w][2 * half] += count_zeros(bytes, 0) + count_zeros(bytes, 1);
        windows[w][2 * half + 1] += count_zeros(bytes, 2) + count_zeros(bytes, 3);
      }
    }
  }
  remove_common_part(windows);
  std::vector<double> preferences;
  for (const auto& count : windows) {
    const double by_planes = count[0] + count[2] - count[1] - count[3];
    const double by_bytes = count[0] + count[1] - count[2] - count[3];
    preferences.push_back(preference(by_planes * by_planes, by_bytes * by_bytes));
  }
  return t_statistic(preferences);
}

double confidence_of(double t) { return t * t / (1 + t * t); }

I2sLayoutGuess decided(I2sLayout layout, double confidence, std::string reason) {
  return {layout, confidence, {layout}, std::move(reason)};
}

/// kI2sLayouts has the default first, and so has every selection from it.
I2sLayoutGuess undecided(std::vector<I2sLayout> possible, std::string_view reason) {
  const auto layout = possible.front();
  return {layout, 0, std::move(possible),
          fmt::format("{}; {} by default", reason, name_of(layout))};
}

/// That the rows lie one after another, and how sure that is.
struct ContiguousRows {
  double t;
  std::string reason;
};

I2sLayoutGuess choose_block(const QuantizedView& packed, const ContiguousRows& rows) {
  const double t = evidence_for_128(packed);
  if (std::abs(t) < kConvincing) {
    return undecided(
        {I2sLayout::x86_block128, I2sLayout::arm_block64},
        fmt::format("{}, but nothing tells blocks of 128 from blocks of 64 (t = {:.1f})",
                    rows.reason, t));
  }
  const auto layout = t > 0 ? I2sLayout::x86_block128 : I2sLayout::arm_block64;
  return decided(layout, confidence_of(std::min(std::abs(t), rows.t)),
                 fmt::format("{}, and columns differ by 64 as in blocks of {} (t = {:.1f})",
                             rows.reason, t > 0 ? 128 : 64, std::abs(t)));
}

/// `fitting` are at least two layouts, the four-row one among them.
I2sLayoutGuess choose_with_four_rows(const QuantizedView& packed, std::vector<I2sLayout> fitting) {
  const double t = evidence_for_contiguous_rows(packed);
  if (std::abs(t) < kConvincing) {
    return undecided(
        std::move(fitting),
        fmt::format("the rows are too much alike to tell layouts apart (t = {:.1f})", t));
  }
  if (t < 0) {
    return decided(I2sLayout::x86_four_rows, confidence_of(t),
                   fmt::format("the codes of a byte belong to four rows that differ in their zeros "
                               "(t = {:.1f})",
                               -t));
  }
  const ContiguousRows rows{t, fmt::format("rows lie one after another (t = {:.1f})", t)};
  const bool both_blocks = fitting.size() == kI2sLayouts.size();
  if (both_blocks) return choose_block(packed, rows);
  return decided(I2sLayout::arm_block64, confidence_of(t), rows.reason);
}

}  // namespace

Result<I2sLayoutGuess> guess_i2s_layout(const QuantizedView& packed) {
  if (auto right = check_is_i2s(packed); !right) return fail_from(right);
  std::vector<I2sLayout> fitting;
  for (const auto layout : kI2sLayouts) {
    if (check_i2s_shape(layout, packed.rows, packed.cols)) fitting.push_back(layout);
  }
  if (fitting.empty()) {
    return fail(fmt::format("no layout of I2_S holds {} x {} weights", packed.rows, packed.cols));
  }
  if (fitting.size() == 1) {
    return decided(fitting[0], 1,
                   fmt::format("no other layout holds {} x {} weights", packed.rows, packed.cols));
  }
  if (packed.rows % 4 == 0) return choose_with_four_rows(packed, std::move(fitting));
  return choose_block(
      packed, {std::numeric_limits<double>::infinity(), "the rows are no multiple of four"});
}

}  // namespace trilobite::quant
