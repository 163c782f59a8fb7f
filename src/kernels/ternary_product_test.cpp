#include "kernels/ternary_product.hpp"

#include <cstdlib>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

using quant::TernaryForm;
using quant::TernaryTiles;

constexpr TernaryForm kForms[] = {TernaryForm::two_bit, TernaryForm::five_trits_a_byte};

class TernaryProductOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(TernaryProductOnEveryIsa);

using Fill = int8_t (*)(size_t);
int8_t random_weight(size_t i) { return static_cast<int8_t>(philox(3, 0, i)[0] % 3 - 1); }
int8_t random_code(size_t i) { return static_cast<int8_t>(philox(4, 0, i)[0] % 256 - 128); }

/// A product whose operands and whose exact result are plain arrays.
struct Problem {
  Problem(size_t rows_, size_t columns_, size_t tokens_, Fill weight = random_weight,
          Fill code = random_code)
      : rows(rows_), columns(columns_), tokens(tokens_), stride(columns + 24) {
    weights.resize(rows * columns);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = weight(i);
    codes.resize(tokens * stride);
    for (size_t t = 0; t < tokens; ++t) {
      int32_t sum = 0;
      for (size_t c = 0; c < columns; ++c) sum += codes[t * stride + c] = code(t * columns + c);
      sums.push_back(sum);
      scales.push_back(1.0f);
    }
  }
  int32_t exact(size_t token, size_t row) const {
    int32_t sum = 0;
    for (size_t c = 0; c < columns; ++c) {
      sum += weights[row * columns + c] * codes[token * stride + c];
    }
    return sum;
  }
  TernaryTiles tiles(TernaryForm form) const {
    return TernaryTiles::pack(weights, rows, columns, form).value();
  }
  TernaryCall call(const TernaryTiles& tiles, std::vector<float>& out) const {
    return {.weights = tiles,
            .x = {codes.data(), stride, tokens, scales.data(), sums.data()},
            .out = out.data(),
            .out_stride = rows};
  }
  void expect_exact(TernaryForm form) const {
    const auto packed = tiles(form);
    std::vector<float> out(tokens * rows, -1e9f);
    ternary_product(call(packed, out), 0, packed.panels());
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], static_cast<float>(exact(i / rows, i % rows)))
          << rows << "x" << columns << " tokens " << tokens << " at " << i;
    }
  }

  size_t rows, columns, tokens, stride;
  std::vector<int8_t> weights, codes;
  std::vector<int32_t> sums;
  std::vector<float> scales;
};

TEST_P(TernaryProductOnEveryIsa, IsExactForAwkwardSizes) {
  for (const auto form : kForms) {
    for (const size_t rows : {0u, 1u, 15u, 16u, 17u, 48u, 64u, 65u, 131u}) {
      for (const size_t columns :
           {0u, 1u, 3u, 15u, 16u, 17u, 19u, 20u, 21u, 239u, 240u, 255u, 256u, 257u, 1003u}) {
        for (const size_t tokens : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) {
          Problem(rows, columns, tokens).expect_exact(form);
        }
      }
    }
  }
}

TEST_P(TernaryProductOnEveryIsa, IsExactForManyTokens) {
  for (const auto form : kForms) {
    for (const size_t tokens : {12u, 13u, 96u, 97u, 200u})
      Problem(70, 300, tokens).expect_exact(form);
  }
}

TEST_P(TernaryProductOnEveryIsa, IsExactAtTheSizesOfAModel) {
  for (const auto form : kForms) {
    Problem(640, 2560, 1).expect_exact(form);
    Problem(128, 6912, 8).expect_exact(form);
  }
}

// Sums of 16 bits would wrap or saturate here if one product too many were added.
TEST_P(TernaryProductOnEveryIsa, DoesNotSaturate) {
  const Fill plus = [](size_t) { return int8_t{1}; };
  const Fill minus = [](size_t) { return int8_t{-1}; };
  const Fill most = [](size_t) { return int8_t{127}; };
  const Fill least = [](size_t) { return int8_t{-128}; };
  const Fill alternating = [](size_t i) { return int8_t(i % 2 == 0 ? 127 : -128); };
  for (const auto form : kForms) {
    for (const size_t tokens : {1u, 2u, 3u, 4u, 6u, 9u}) {
      for (const Fill weight : {plus, minus}) {
        for (const Fill code : {most, least, alternating}) {
          Problem(64, 1024, tokens, weight, code).expect_exact(form);
        }
      }
    }
  }
}

TEST_P(TernaryProductOnEveryIsa, AppliesScalesAndBias) {
  for (const size_t tokens : {1u, 9u}) {
    Problem problem(70, 50, tokens);
    std::vector<float> row_scales, bias;
    for (size_t r = 0; r < problem.rows; ++r) {
      row_scales.push_back(0.1f + static_cast<float>(r));
      bias.push_back(static_cast<float>(r) - 30.5f);
    }
    for (size_t t = 0; t < tokens; ++t) problem.scales[t] = 0.3f * static_cast<float>(t + 1);
    const auto tiles = problem.tiles(TernaryForm::two_bit);
    std::vector<float> out(tokens * problem.rows);
    auto call = problem.call(tiles, out);
    call.row_scales = row_scales.data();
    call.bias = bias.data();
    ternary_product(call, 0, tiles.panels());
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t row = i % problem.rows;
      const size_t token = i / problem.rows;
      const float product = static_cast<float>(problem.exact(token, row)) * row_scales[row];
      ASSERT_EQ(out[i], product * problem.scales[token] + bias[row]);
    }
  }
}

TEST_P(TernaryProductOnEveryIsa, WritesOnlyTheRowsOfItsPanels) {
  const Problem problem(150, 33, 5);
  const auto tiles = problem.tiles(TernaryForm::two_bit);
  std::vector<float> out(problem.tokens * problem.rows, -7.0f);
  ternary_product(problem.call(tiles, out), 1, 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t row = i % problem.rows;
    const bool inside = row >= 64 && row < 128;
    ASSERT_EQ(out[i], inside ? static_cast<float>(problem.exact(i / problem.rows, row)) : -7.0f);
  }
}

// Every byte there is, through every decoder.
TEST_P(TernaryProductOnEveryIsa, DecodesEveryCombinationOfFiveTrits) {
  const Fill every_number = [](size_t i) {
    constexpr int kPlaces[] = {81, 27, 9, 3, 1};
    const size_t row = i / 20;
    const size_t column = i % 20;
    const auto value = static_cast<int>((row + 61 * (column % 4)) % 243);
    return static_cast<int8_t>(value / kPlaces[column / 4] % 3 - 1);
  };
  for (const size_t tokens : {1u, 5u}) {
    Problem(243, 20, tokens, every_number).expect_exact(TernaryForm::five_trits_a_byte);
  }
}

}  // namespace
}  // namespace trilobite::kernels
