#include "kernels/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class AttentionOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(AttentionOnEveryIsa);

/// Keys and values of one head, kept as asked, with their values in double.
class Head {
 public:
  Head(KvType type, size_t positions, size_t head_size, size_t stride)
      : type_(type), stride_(stride), head_size_(head_size) {
    fill(keys_, key_scales_, exact_keys_, positions, 31);
    fill(values_, value_scales_, exact_values_, positions, 32);
  }
  KvHead view() const {
    const bool scaled = type_ == KvType::int8;
    return {.type = type_,
            .keys = keys_.data(),
            .values = values_.data(),
            .stride = stride_,
            .block_rows = kBlockRows,
            .key_scales = scaled ? key_scales_.data() : nullptr,
            .value_scales = scaled ? value_scales_.data() : nullptr};
  }
  double key(size_t position, size_t i) const { return exact_keys_[position * head_size_ + i]; }
  double value(size_t position, size_t i) const { return exact_values_[position * head_size_ + i]; }

 private:
  static constexpr size_t kBlockRows = kKvBlock + 5;

  void fill(std::vector<std::byte>& bytes, std::vector<float>& scales, std::vector<double>& exact,
            size_t positions, uint64_t seed) {
    const size_t rows = row_of_position(positions, kBlockRows);
    bytes.resize(rows * stride_ * bytes_of(type_));
    scales.resize(rows);
    for (size_t p = 0; p < positions; ++p) {
      const size_t row = row_of_position(p, kBlockRows);
      scales[row] = 0.01f * static_cast<float>(p % 5 + 1);
      for (size_t i = 0; i < head_size_; ++i) {
        const float value = normal_at(seed, p, i);
        exact.push_back(put(bytes.data(), row * stride_ + i, value, scales[row]));
      }
    }
  }
  double put(std::byte* bytes, size_t at, float value, float scale) const {
    if (type_ == KvType::f32) {
      std::memcpy(bytes + at * 4, &value, 4);
      return static_cast<double>(value);
    }
    if (type_ == KvType::f16) {
      const auto half = Float16::from(value);
      std::memcpy(bytes + at * 2, &half, 2);
      return static_cast<double>(half.to_float());
    }
    const auto code = static_cast<int8_t>(std::lround(std::clamp(value * 40.0f, -127.0f, 127.0f)));
    std::memcpy(bytes + at, &code, 1);
    return static_cast<double>(code) * static_cast<double>(scale);
  }

  KvType type_;
  size_t stride_, head_size_;
  std::vector<std::byte> keys_, values_;
  std::vector<float> key_scales_, value_scales_;
  std::vector<double> exact_keys_, exact_values_;
};

struct State {
  State(size_t rows, size_t head_size) : largest(rows), sums(rows), values(rows * head_size) {
    clear(view(), rows, head_size);
  }
  AttentionState view() { return {largest.data(), sums.data(), values.data()}; }
  std::vector<float> largest, sums, values;
};

/// softmax(scale q K^T) V of one row, in double.
std::vector<double> expected_row(const QueryRows& queries, const Head& head, size_t row) {
  const float* q = queries.q + row / queries.heads * queries.token_stride +
                   row % queries.heads * queries.head_size;
  std::vector<double> weights;
  double largest = -1e300;
  for (size_t p = 0; p < queries.keys_of(row); ++p) {
    double dot = 0;
    for (size_t i = 0; i < queries.head_size; ++i)
      dot += static_cast<double>(q[i]) * head.key(p, i);
    weights.push_back(dot * static_cast<double>(queries.scale));
    largest = std::max(largest, weights.back());
  }
  double sum = 0;
  for (auto& weight : weights) sum += weight = std::exp(weight - largest);
  std::vector<double> out(queries.head_size);
  for (size_t p = 0; p < weights.size(); ++p) {
    for (size_t i = 0; i < out.size(); ++i) out[i] += weights[p] / sum * head.value(p, i);
  }
  return out;
}

struct Case {
  size_t tokens, heads, head_size, visible;
  bool causal;
};

void expect_right(KvType type, const Case& c) {
  const size_t positions = c.visible + (c.causal ? c.tokens - 1 : 0);
  const Head head(type, positions, c.head_size, c.head_size + 3);
  const size_t token_stride = c.heads * c.head_size + 5;
  std::vector<float> q(c.tokens * token_stride);
  for (size_t i = 0; i < q.size(); ++i) q[i] = normal_at(33, 0, i);
  const QueryRows queries{.q = q.data(),
                          .token_stride = token_stride,
                          .tokens = c.tokens,
                          .heads = c.heads,
                          .head_size = c.head_size,
                          .scale = 1.0f / std::sqrt(static_cast<float>(c.head_size)),
                          .visible = c.visible,
                          .causal = c.causal};
  // Once in one go, once in two parts that are merged.
  State whole(queries.rows(), c.head_size);
  attend(queries, head.view(), 0, positions, whole.view());
  const size_t rows = queries.rows();
  State parts(2 * rows, c.head_size);
  const AttentionState second{parts.largest.data() + rows, parts.sums.data() + rows,
                              parts.values.data() + rows * c.head_size};
  const size_t middle = positions / 2 / kKvBlock * kKvBlock;
  attend(queries, head.view(), 0, middle, parts.view());
  attend(queries, head.view(), middle, positions, second);
  std::vector<float> out(c.head_size);
  for (size_t row = 0; row < rows; ++row) {
    const auto expected = expected_row(queries, head, row);
    const auto check = [&](State& state, size_t count, const char* what) {
      merge({.first = {state.largest.data() + row, state.sums.data() + row,
                       state.values.data() + row * c.head_size},
             .stride = rows,
             .value_stride = rows * c.head_size,
             .count = count,
             .head_size = c.head_size,
             .out = out.data()});
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(static_cast<double>(out[i]), expected[i], 2e-6) << what << " row " << row;
    };
    check(whole, 1, "whole");
    check(parts, 2, "parts");
  }
}

TEST_P(AttentionOnEveryIsa, agrees_with_the_definition) {
  for (const KvType type : {KvType::f32, KvType::f16, KvType::int8}) {
    for (const Case& c :
         {Case{1, 1, 1, 1, true}, Case{1, 4, 8, 3, true}, Case{3, 1, 20, 64, true},
          Case{5, 3, 16, 1, true}, Case{2, 4, 128, 200, true}, Case{7, 2, 33, 129, false},
          Case{1, 5, 80, 1000, true}, Case{32, 1, 64, 65, true}}) {
      SCOPED_TRACE(testing::Message() << name_of(type) << " tokens " << c.tokens << " size "
                                      << c.head_size << " visible " << c.visible);
      expect_right(type, c);
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
