#include "modelfile/i2s_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using gguf::TensorType;
using quant::I2sLayout;
using testing::ElementsAre;

quant::TernaryMatrix random_ternary(size_t rows, size_t cols) {
  quant::TernaryMatrix ternary{.rows = rows, .cols = cols, .codes = {}, .scales = {0.5F}};
  for (const float value : normal_values(rows * cols, rows))
    ternary.codes.push_back(value > 0.5F ? int8_t{1} : value < -0.5F ? int8_t{-1} : int8_t{0});
  return ternary;
}

/// A file of such tensors in one layout, and how it is guessed.
quant::I2sLayoutGuess guess_of(I2sLayout layout, std::vector<std::pair<size_t, size_t>> shapes,
                               std::string_view said = "") {
  const TemporaryFolder folder;
  gguf::Writer writer;
  if (!said.empty()) writer.set_text(kI2sLayoutKey, said);
  for (const auto& [rows, cols] : shapes) {
    EXPECT_TRUE(writer.declare({"w" + std::to_string(rows), {cols, rows}, TensorType::i2_s}));
  }
  EXPECT_TRUE(writer.start(folder.path() / "m.gguf"));
  for (const auto& [rows, cols] : shapes) {
    const auto bytes = quant::pack_i2s(random_ternary(rows, cols), layout);
    EXPECT_TRUE(writer.append(std::as_bytes(std::span(bytes))));
  }
  EXPECT_TRUE(writer.finish());
  return guess_i2s_layout(gguf::GgufFile::open(folder.path() / "m.gguf")->contents());
}

TEST(I2sLayoutOfFile, weights_without_structure_are_taken_for_the_commonest_that_fits) {
  const auto any = guess_of(I2sLayout::x86_block128, {{8, 256}, {16, 128}});
  EXPECT_EQ(any.layout, I2sLayout::x86_block128);
  EXPECT_EQ(any.confidence, 0);
  // Blocks of 128 cannot hold 192 columns.
  const auto narrow = guess_of(I2sLayout::arm_block64, {{8, 192}});
  EXPECT_NE(narrow.layout, I2sLayout::x86_block128);
  EXPECT_EQ(narrow.confidence, 0);
  EXPECT_FALSE(narrow.reason.empty());
}

TEST(I2sLayoutOfFile, the_shapes_of_all_tensors_count) {
  // The first excludes blocks of 128, the second four rows together.
  const auto guess = guess_of(I2sLayout::arm_block64, {{8, 192}, {7, 256}});
  EXPECT_EQ(guess.layout, I2sLayout::arm_block64);
  EXPECT_EQ(guess.confidence, 1);
}

TEST(I2sLayoutOfFile, what_the_file_says_counts) {
  const auto guess = guess_of(I2sLayout::arm_block64, {{8, 256}}, "arm-64");
  EXPECT_EQ(guess.layout, I2sLayout::arm_block64);
  EXPECT_EQ(guess.confidence, 1);
  EXPECT_EQ(guess_of(I2sLayout::x86_block128, {{8, 256}}, "nonsense").confidence, 0);
}

TEST(I2sLayoutOfFile, without_tensors_there_is_nothing_to_choose) {
  EXPECT_TRUE(guess_of(I2sLayout::x86_block128, {}).possible.empty());
}

}  // namespace
}  // namespace trilobite::modelfile
