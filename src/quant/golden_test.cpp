// The bytes and the values of other engines: what llama.cpp's and bitnet.cpp's own quantisers made
// of two matrices. The data is not part of the project; without it these tests are skipped.

#include <gtest/gtest.h>

#include "base/test_data_for_test.hpp"
#include "quant/i2s.hpp"
#include "quant/scheme.hpp"

namespace trilobite::quant {
namespace {

Path tensors_folder() { return test_data_folder() / "golden" / "tensors"; }

std::vector<uint8_t> read_bytes(const Path& path) {
  const auto text = read_file(path).value();
  return {text.begin(), text.end()};
}

struct GoldenCase {
  const char* scheme;
  const char* file_type;
};

class Golden : public testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override { TRILOBITE_NEED_TEST_DATA("golden/tensors/manifest.json"); }
  static Path file(const std::string& matrix, const std::string& rest) {
    return tensors_folder() / (matrix + "." + rest);
  }
};

/// The last 28 bytes of an I2_S tensor were never written.
size_t meaningful_bytes(const GoldenCase& golden, size_t bytes) {
  return std::string_view(golden.scheme) == "i2_s" ? bytes - kI2sTailBytes + 4 : bytes;
}

TEST_P(Golden, quantizing_gives_the_engines_bytes) {
  for (const std::string matrix : {"ternary", "gaussian"}) {
    const auto values = read_floats(file(matrix, "f32.bin"));
    auto expected = read_bytes(file(matrix, std::string(GetParam().file_type) + ".quant.bin"));
    auto packed = quantize(find_scheme(GetParam().scheme).value(),
                           MatrixView::from(values, 256, 256).value());
    ASSERT_TRUE(packed) << packed.error().message();
    ASSERT_EQ(packed->bytes.size(), expected.size());
    expected.resize(meaningful_bytes(GetParam(), expected.size()));
    packed->bytes.resize(expected.size());
    EXPECT_EQ(packed->bytes, expected) << matrix;
  }
}

TEST_P(Golden, dequantizing_gives_the_engines_values) {
  for (const std::string matrix : {"ternary", "gaussian"}) {
    const std::string type = GetParam().file_type;
    const auto bytes = read_bytes(file(matrix, type + ".quant.bin"));
    const auto values = dequantize(find_scheme(GetParam().scheme).value(),
                                   {.rows = 256, .cols = 256, .bytes = bytes});
    ASSERT_TRUE(values) << values.error().message();
    EXPECT_EQ(*values, read_floats(file(matrix, type + ".dequant.f32.bin"))) << matrix;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Golden,
                         testing::Values(GoldenCase{"q8_0", "Q8_0"}, GoldenCase{"q4_0", "Q4_0"},
                                         GoldenCase{"tq1_0", "TQ1_0"}, GoldenCase{"tq2_0", "TQ2_0"},
                                         GoldenCase{"i2_s", "I2_S"}),
                         [](const auto& test) { return std::string(test.param.scheme); });

}  // namespace
}  // namespace trilobite::quant
