#include "kernels/bitlinear.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"
#include "quant/bitnet.hpp"

namespace trilobite::kernels {
namespace {

using quant::TernaryForm;
using quant::TernaryTiles;

class BitLinearOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(BitLinearOnEveryIsa);

std::vector<float> normal(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = normal_at(seed, 0, i);
  return values;
}

/// A layer with ternary weights made from normal ones, and its inputs.
struct Layer {
  Layer(size_t rows_, size_t columns_, size_t tokens_)
      : rows(rows_), columns(columns_), tokens(tokens_), x(normal(tokens * columns, 1)) {
    const auto dense = normal(rows * columns, 2);
    ternary = quant::quantize_absmean(quant::MatrixView::from(dense, rows, columns).value());
    bias = normal(rows, 3);
    gain = normal(columns, 4);
  }
  std::vector<float> run(unsigned threads, TernaryForm form = TernaryForm::two_bit) const {
    const auto tiles = TernaryTiles::pack(ternary.codes, rows, columns, form).value();
    auto workspace = BitLinearWorkspace::create(tokens, columns).value();
    ThreadPool pool(threads);
    std::vector<float> out(tokens * rows);
    const auto done = bitlinear({.weights = tiles,
                                 .scale = ternary.scales[0],
                                 .bias = bias.data(),
                                 .norm_gain = gain.data(),
                                 .x = x.data(),
                                 .tokens = tokens,
                                 .out = out.data()},
                                pool, workspace);
    EXPECT_TRUE(done);
    return out;
  }
  /// What sub-norm, exact activations and ternary weights give in f64, and the bound on what int8
  /// activations may change: half a step of each, times the weights that are not 0.
  struct Expected {
    double value;
    double bound;
  };
  Expected expected(size_t token, size_t row) const {
    std::vector<double> normed(columns);
    double squares = 0;
    for (size_t c = 0; c < columns; ++c) squares += std::pow(double(x[token * columns + c]), 2);
    const double factor = 1 / std::sqrt(squares / double(columns) + 1e-5);
    double largest = 0;
    for (size_t c = 0; c < columns; ++c) {
      normed[c] = x[token * columns + c] * factor * gain[c];
      largest = std::max(largest, std::abs(normed[c]));
    }
    double sum = 0;
    double used = 0;
    for (size_t c = 0; c < columns; ++c) {
      sum += ternary.codes[row * columns + c] * normed[c];
      used += std::abs(ternary.codes[row * columns + c]);
    }
    const double scale = ternary.scales[0];
    return {sum * scale + bias[row],
            used * (largest / 254 * scale) * 1.001 + 1e-5 * (1 + std::abs(bias[row]))};
  }

  size_t rows, columns, tokens;
  std::vector<float> x, bias, gain;
  quant::TernaryMatrix ternary;
};

TEST_P(BitLinearOnEveryIsa, StaysWithinTheRoundingOfItsActivations) {
  for (const size_t tokens : {1u, 3u, 20u}) {
    const Layer layer(70, 333, tokens);
    const auto out = layer.run(1);
    double squared_error = 0;
    double squared_value = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const auto [value, bound] = layer.expected(i / layer.rows, i % layer.rows);
      ASSERT_NEAR(out[i], value, bound) << i;
      squared_error += std::pow(out[i] - value, 2);
      squared_value += value * value;
    }
    // The worst case never happens to all columns at once: about 40 dB, as int8 gives.
    EXPECT_LT(std::sqrt(squared_error / squared_value), 0.015);
  }
}

TEST_P(BitLinearOnEveryIsa, DoesNotDependOnThreadsOrPacking) {
  for (const size_t tokens : {1u, 2u, 33u}) {
    const Layer layer(200, 100, tokens);
    const auto expected = layer.run(1);
    EXPECT_EQ(layer.run(2), expected);
    EXPECT_EQ(layer.run(3), expected);
    EXPECT_EQ(layer.run(1, TernaryForm::five_trits_a_byte), expected);
  }
}

TEST(BitLinear, GivesTheSameBitsOnEveryInstructionSet) {
  const Layer layer(130, 300, 9);
  ASSERT_TRUE(set_isa("scalar"));
  const auto expected = layer.run(1);
  for (const auto isa : available_isas()) {
    ASSERT_TRUE(set_isa(isa));
    EXPECT_EQ(layer.run(1), expected) << isa;
  }
  ASSERT_TRUE(set_isa(""));
}

TEST(BitLinear, SaysWhatIsWrong) {
  const auto tiles = TernaryTiles::create(4, 8, TernaryForm::two_bit).value();
  auto workspace = BitLinearWorkspace::create(1, 8).value();
  ThreadPool pool(1);
  std::vector<float> x(16, 1.0f), out(8, 5.0f);
  const auto message = [&](size_t tokens) {
    const auto done = bitlinear(
        {.weights = tiles, .x = x.data(), .tokens = tokens, .out = out.data()}, pool, workspace);
    return done ? std::string() : done.error().message();
  };
  EXPECT_EQ(message(1), "");
  EXPECT_EQ(message(2), "a workspace for 1 tokens x 8 columns is too small for 2 x 8");
  x[3] = std::numeric_limits<float>::quiet_NaN();
  out.assign(8, 5.0f);
  EXPECT_EQ(message(1), "an activation is NaN or infinite");
  EXPECT_EQ(out, std::vector<float>(8, 5.0f));
  EXPECT_FALSE(BitLinearWorkspace::create(SIZE_MAX / 4, 100));
}

TEST(BitLinear, OfZeroWeightsIsTheBias) {
  const auto tiles = TernaryTiles::create(3, 50, TernaryForm::five_trits_a_byte).value();
  auto workspace = BitLinearWorkspace::create(2, 50).value();
  ThreadPool pool(2);
  const std::vector<float> x(100, 3.0f), bias{1, -2, 3};
  std::vector<float> out(6);
  ASSERT_TRUE(bitlinear(
      {.weights = tiles, .bias = bias.data(), .x = x.data(), .tokens = 2, .out = out.data()}, pool,
      workspace));
  EXPECT_EQ(out, (std::vector<float>{1, -2, 3, 1, -2, 3}));
}

}  // namespace
}  // namespace trilobite::kernels
