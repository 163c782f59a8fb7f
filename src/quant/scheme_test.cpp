#include "quant/scheme.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/file.hpp"
#include "quant/error_measures.hpp"
#include "quant/matrices_for_test.hpp"

namespace trilobite::quant {
namespace {

using fixtures::Weights;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& scheme : all_schemes()) names.push_back(scheme.name);
  return names;
}

class EveryScheme : public testing::TestWithParam<std::string> {
 protected:
  const Scheme scheme_ = find_scheme(GetParam()).value();

  QuantizedMatrix pack(const Weights& weights) const {
    auto result = quantize(scheme_, weights.view());
    EXPECT_TRUE(result) << result.error().message();
    return *std::move(result);
  }
  std::string failure_of(const QuantizedMatrix& packed) const {
    const auto values = dequantize(scheme_, packed.view());
    return values ? "none" : values.error().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Table, EveryScheme, testing::ValuesIn(all_names()), [](const auto& test) {
  std::string name = test.param;
  for (char& letter : name)
    letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
});

/// These round to -largest, 0 or largest, which makes sense for weights that are ternary already.
bool is_for_ternary_weights(const std::string& name) {
  return name.starts_with("i2_s") || name.starts_with("tq");
}

Weights suitable_weights(const std::string& name) {
  return is_for_ternary_weights(name) ? fixtures::ternary(64, 1024) : fixtures::gaussian(64, 1024);
}

/// In dB on the weights above, just below what the scheme reaches: a worse quantiser fails, and so
/// does a scheme that nobody has measured.
const std::map<std::string, double>& snr_floors() {
  constexpr double kExact = std::numeric_limits<double>::infinity();
  static const std::map<std::string, double> kFloors = {{"fp32", kExact},
                                                        {"fp16", 73.6},
                                                        {"bf16", 55.6},
                                                        {"bitnet", 5.7},
                                                        {"bitnet-channel", 5.7},
                                                        {"bitnet-1.6", 5.7},
                                                        {"bitnet-1.6-channel", 5.7},
                                                        {"i2_s", kExact},
                                                        {"i2_s-four-rows", kExact},
                                                        {"i2_s-arm", kExact},
                                                        {"tq1_0", 73.4},
                                                        {"tq2_0", 73.4},
                                                        {"int8", 39.8},
                                                        {"int8-channel", 41.9},
                                                        {"int8-g32", 45.3},
                                                        {"int8-g64", 44.4},
                                                        {"int8-g128", 43.7},
                                                        {"int8-asym", 40.4},
                                                        {"int8-channel-asym", 42.5},
                                                        {"int8-g32-asym", 46.4},
                                                        {"int8-g64-asym", 45.3},
                                                        {"int8-g128-asym", 44.4},
                                                        {"int4", 14.6},
                                                        {"int4-channel", 16.7},
                                                        {"int4-g32", 20.2},
                                                        {"int4-g64", 19.3},
                                                        {"int4-g128", 18.5},
                                                        {"int4-asym", 15.8},
                                                        {"int4-channel-asym", 17.9},
                                                        {"int4-g32-asym", 21.8},
                                                        {"int4-g64-asym", 20.7},
                                                        {"int4-g128-asym", 19.8},
                                                        {"q8_0", 45.3},
                                                        {"q4_0", 21.2},
                                                        {"q4_1", 22.0},
                                                        {"q6_k", 34.9},
                                                        {"q4_k", 22.9}};
  return kFloors;
}

TEST_P(EveryScheme, restores_weights_as_well_as_it_did_when_it_was_measured) {
  const auto weights = suitable_weights(GetParam());
  const auto restored = dequantize(pack(weights)).value();
  const double snr = measure_error(weights.values, restored).snr_db;
  ASSERT_TRUE(snr_floors().contains(GetParam())) << "its SNR is " << snr << " dB";
  EXPECT_GE(snr, snr_floors().at(GetParam()));
  EXPECT_LE(snr, snr_floors().at(GetParam()) + 0.2) << "better than its floor: raise that";
}

TEST_P(EveryScheme, says_truly_how_many_bits_a_weight_takes) {
  const auto size = stored_size(scheme_, 4096, 4096).value();
  const double bits = 8.0 * static_cast<double>(size.total_bytes()) / (4096.0 * 4096.0);
  EXPECT_NEAR(bits, scheme_.bits_per_weight, 0.01);
  // Scales come on top of the codes; only trits take less than their whole bits.
  const bool has_codes = scheme_.granularity != Granularity::none;
  EXPECT_EQ(scheme_.code_bits != 0, has_codes);
  EXPECT_LE(scheme_.code_bits, std::ceil(scheme_.bits_per_weight));
  const auto packed = pack(suitable_weights(GetParam()));
  EXPECT_EQ(packed.view().size(), stored_size(scheme_, 64, 1024).value());
}

TEST_P(EveryScheme, quantizing_what_was_restored_changes_next_to_nothing) {
  const auto weights = suitable_weights(GetParam());
  const Weights once{64, 1024, dequantize(pack(weights)).value()};
  const auto twice = dequantize(pack(once)).value();
  // The rule of BitNet takes the mean over fewer weights that are not 0, so the scale shrinks; the
  // codes stay. The searching formats may find another grid.
  const double most = GetParam().starts_with("bitnet") ? 0.6 : 0.11;
  const auto measures = measure_error(once.values, twice);
  EXPECT_LE(measures.rmse, most * 0.02);
  EXPECT_GE(measures.cosine, 0.995);
}

TEST_P(EveryScheme, zeros_come_back_as_zeros) {
  const Weights zeros{4, 256, std::vector<float>(1024)};
  EXPECT_EQ(dequantize(pack(zeros)).value(), zeros.values);
}

TEST_P(EveryScheme, weights_that_are_not_finite_are_refused_with_their_place) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    auto weights = fixtures::gaussian(4, 256);
    weights.values[2 * 256 + 17] = bad;
    const auto packed = quantize(scheme_, weights.view());
    ASSERT_FALSE(packed);
    EXPECT_THAT(packed.error().message(), HasSubstr("row 2, column 17 is "));
    EXPECT_THAT(packed.error().message(), HasSubstr("must be finite"));
  }
}

TEST_P(EveryScheme, the_largest_weight_is_held_and_the_next_refused) {
  auto weights = fixtures::gaussian(4, 256);
  weights.values[5] = -scheme_.largest_magnitude;
  const auto restored = dequantize(pack(weights)).value();
  for (const float value : restored) ASSERT_TRUE(std::isfinite(value));
  weights.values[5] = std::nextafter(scheme_.largest_magnitude, kInfinity);
  EXPECT_FALSE(quantize(scheme_, weights.view()));
}

TEST_P(EveryScheme, tiny_weights_do_no_harm) {
  for (const float size : {1e-6f, 1e-10f, 1e-30f, 1e-38f, 1e-42f, 1e-45f}) {
    const auto weights = fixtures::gaussian(4, 256, size);
    const auto restored = dequantize(pack(weights)).value();
    for (const float value : restored) {
      ASSERT_LE(std::abs(value), 7 * size) << size;
    }
  }
}

TEST_P(EveryScheme, truncated_and_oversized_data_is_an_error_with_the_right_size) {
  const auto packed = pack(suitable_weights(GetParam()));
  auto wrong = packed;
  wrong.bytes.pop_back();
  EXPECT_THAT(failure_of(wrong), HasSubstr(std::to_string(packed.bytes.size()) + " bytes"));
  wrong.bytes.resize(packed.bytes.size() + 1);
  EXPECT_THAT(failure_of(wrong), HasSubstr(std::to_string(packed.bytes.size()) + " bytes"));
  wrong = packed;
  wrong.bytes.clear();
  EXPECT_THAT(failure_of(wrong), HasSubstr("there are 0 bytes"));
  wrong = packed;
  wrong.scales.push_back(1);
  EXPECT_THAT(failure_of(wrong), HasSubstr("scales"));
  wrong = packed;
  wrong.zero_points.push_back(1);
  EXPECT_THAT(failure_of(wrong), HasSubstr("zero points"));
}

TEST_P(EveryScheme, impossible_shapes_are_errors) {
  auto packed = pack(suitable_weights(GetParam()));
  for (const auto& [rows, cols] :
       std::vector<std::pair<size_t, size_t>>{{0, 256},
                                              {256, 0},
                                              {SIZE_MAX, SIZE_MAX},
                                              {SIZE_MAX / 256, 512},
                                              {size_t{1} << 40, 512},
                                              {size_t{1} << 32, size_t{1} << 32}}) {
    packed.rows = rows;
    packed.cols = cols;
    EXPECT_FALSE(dequantize(scheme_, packed.view())) << rows << " x " << cols;
  }
}

TEST_P(EveryScheme, scales_beside_the_bytes_must_be_finite_and_not_negative) {
  auto packed = pack(suitable_weights(GetParam()));
  if (packed.scales.empty()) return;  // inside the bytes, or none: see the tests of those formats
  for (const float bad : {kNan, kInfinity, -kInfinity, -1.0f}) {
    packed.scales.back() = bad;
    EXPECT_THAT(failure_of(packed), HasSubstr("must be finite and not negative"));
  }
  packed.scales.back() = 0;
  EXPECT_EQ(failure_of(packed), "none");
}

TEST_P(EveryScheme, shapes_that_are_not_whole_blocks_name_the_block) {
  if (scheme_.column_multiple > 1) {
    const auto packed = quantize(scheme_, fixtures::gaussian(4, 40).view());
    ASSERT_FALSE(packed);
    EXPECT_THAT(packed.error().message(),
                HasSubstr("blocks of " + std::to_string(scheme_.column_multiple) + " columns"));
  } else {
    const auto weights = fixtures::gaussian(4, 41);
    const auto restored = dequantize(pack(weights)).value();
    EXPECT_GT(measure_error(weights.values, restored).cosine, 0.7);
  }
  if (scheme_.row_multiple > 1) {
    EXPECT_THAT(quantize(scheme_, fixtures::gaussian(5, 256).view()).error().message(),
                HasSubstr("blocks of 4 rows"));
  }
}

TEST(SchemeTable, names_are_unique_and_found) {
  std::set<std::string> names;
  for (const auto& scheme : all_schemes()) {
    EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    EXPECT_EQ(find_scheme(scheme.name).value().name, scheme.name);
    EXPECT_FALSE(scheme.what.empty());
  }
  for (const auto* name : {"bitnet", "int8", "int4", "fp16", "bf16", "q8_0", "tq1_0", "i2_s"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(find_scheme("f16").value().name, "fp16");
}

TEST_P(EveryScheme, has_its_line_in_the_document) {
  const auto document = read_file(Path(TRILOBITE_FORMAT_DOCUMENTS) / "schemes.md").value();
  const auto shared_by = scheme_.block == 0
                             ? std::string(name_of(scheme_.granularity))
                             : fmt::format("{} of {}", name_of(scheme_.granularity), scheme_.block);
  const auto line =
      fmt::format("| `{}` | {} | {} | ", scheme_.name, scheme_.bits_per_weight, shared_by);
  EXPECT_THAT(document, HasSubstr(line));
  EXPECT_THAT(document, HasSubstr(" | " + scheme_.what + " | "));
}

TEST(SchemeTable, groups_may_have_any_size) {
  const auto scheme = find_scheme("int4-g48-asym").value();
  EXPECT_EQ(scheme.block, 48u);
  EXPECT_DOUBLE_EQ(scheme.bits_per_weight, 4 + 40.0 / 48);
  const auto weights = fixtures::gaussian(3, 100);
  const auto packed = quantize(scheme, weights.view()).value();
  EXPECT_EQ(packed.scales.size(), 9u);
  EXPECT_GT(measure_error(weights.values, dequantize(packed).value()).snr_db, 18);
  const auto whole = find_scheme("int8-g9223372036854775807").value();
  EXPECT_EQ(stored_size(whole, 3, 100).value().scales, 3u);
}

TEST(SchemeTable, an_unknown_name_is_an_error_that_lists_the_names) {
  for (const auto* name : {"", "int5", "int4-g0", "int4-g-3", "int4-g", "int4-g8x", "Q8_0 "}) {
    const auto scheme = find_scheme(name);
    ASSERT_FALSE(scheme) << name;
    EXPECT_THAT(scheme.error().message(),
                HasSubstr(std::string("'") + name + "'; there are fp32, "));
  }
}

TEST(MatrixView, its_size_is_checked) {
  const std::vector<float> values(6);
  EXPECT_TRUE(MatrixView::from(values, 2, 3));
  EXPECT_THAT(MatrixView::from(values, 2, 4).error().message(), HasSubstr("needs 8 values"));
  EXPECT_FALSE(MatrixView::from({}, 0, 3));
  EXPECT_THAT(MatrixView::from(values, SIZE_MAX / 2, 3).error().message(), HasSubstr("too large"));
  // 2^32 * 2^32 is 0 in 64 bits.
  const size_t large = size_t{1} << 32;
  EXPECT_THAT(MatrixView::from({}, large, large).error().message(), HasSubstr("too large"));
}

}  // namespace
}  // namespace trilobite::quant
