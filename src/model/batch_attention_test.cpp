#include "model/batch_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "model/kv_cache.hpp"

namespace trilobite::model {
namespace {

/// Two sequences of different lengths whose keys and values are in a cache.
class BatchAttentionTest : public testing::Test {
 protected:
  static constexpr size_t kHeadSize = 12;
  static constexpr size_t kPositions = 700;
  static constexpr size_t kWidth = 3 * kHeadSize;  // of keys

  void SetUp() override {
    cache_ = KvCache::create({.layers = 1,
                              .sequences = 2,
                              .capacity = kPositions,
                              .kv_heads = 3,
                              .head_size = kHeadSize},
                             kernels::KvType::f32)
                 .value();
    for (size_t s = 0; s < 2; ++s) {
      for (size_t p = 0; p < kPositions; ++p) {
        float k[kWidth], v[kWidth];
        for (size_t i = 0; i < kWidth; ++i) {
          k[i] = normal_at(61, 2 * p + s, i);
          v[i] = normal_at(62, 2 * p + s, i);
        }
        cache_->store({0, s, p}, k, v);
      }
    }
  }

  std::vector<float> attend(const AttentionShape& shape, std::span<const TokenRun> runs,
                            unsigned threads) {
    size_t rows = 0;
    for (const auto& run : runs) rows += run.tokens;
    const size_t width = shape.heads * shape.head_size;
    q_.resize(rows * width);
    for (size_t i = 0; i < q_.size(); ++i) q_[i] = normal_at(63, 0, i);
    ThreadPool pool(threads);
    auto attention = BatchAttention::create(
        shape, {.tokens = rows, .sequences = 2, .positions = kPositions, .threads = threads});
    std::vector<float> out(rows * width);
    const auto kv = [&](const TokenRun& run, size_t head) {
      return cache_->head(0, run.sequence, head);
    };
    attention->run(runs, {q_.data(), width}, kv, pool, out.data());
    return out;
  }

  /// The definition, for one row and head.
  std::vector<double> expected(const AttentionShape& shape, const TokenRun& run, size_t token,
                               size_t head) const {
    const size_t size = shape.head_size;
    const float* q = q_.data() + ((run.first_row + token) * shape.heads + head) * size;
    const auto kv = cache_->head(0, run.sequence, head / (shape.heads / shape.kv_heads));
    const auto at = [&](const void* rows, size_t position, size_t i) {
      const size_t row = kernels::row_of_position(position, kv.block_rows);
      return static_cast<double>(static_cast<const float*>(rows)[row * kv.stride + i]);
    };
    const size_t seen = shape.is_causal ? run.position + token + 1 : run.tokens;
    std::vector<double> weights(seen);
    double sum = 0;
    for (size_t p = 0; p < seen; ++p) {
      for (size_t i = 0; i < size; ++i) weights[p] += static_cast<double>(q[i]) * at(kv.keys, p, i);
      sum += weights[p] = std::exp(weights[p] / std::sqrt(static_cast<double>(size)));
    }
    std::vector<double> out(size);
    for (size_t p = 0; p < seen; ++p) {
      for (size_t i = 0; i < size; ++i) out[i] += weights[p] / sum * at(kv.values, p, i);
    }
    return out;
  }

  void expect_right(const AttentionShape& shape, std::span<const TokenRun> runs) {
    const auto out = attend(shape, runs, 1);
    for (const auto& run : runs) {
      for (size_t token = 0; token < run.tokens; ++token) {
        for (size_t head = 0; head < shape.heads; ++head) {
          const auto wanted = expected(shape, run, token, head);
          for (size_t i = 0; i < shape.head_size; ++i) {
            const size_t at = ((run.first_row + token) * shape.heads + head) * shape.head_size + i;
            ASSERT_NEAR(static_cast<double>(out[at]), wanted[i], 3e-6)
                << "token " << token << " head " << head;
          }
        }
      }
    }
    EXPECT_EQ(out, attend(shape, runs, 3)) << "the number of threads changed the result";
  }

  std::optional<KvCache> cache_;
  std::vector<float> q_;
};

TEST_F(BatchAttentionTest, one_token_over_keys_that_are_split) {
  const std::vector<TokenRun> runs{{0, 0, 1, 650}, {1, 1, 1, 3}};
  expect_right({6, 3, kHeadSize, true}, runs);
}

TEST_F(BatchAttentionTest, a_long_prompt_beside_single_tokens) {
  const std::vector<TokenRun> runs{{1, 0, 2, 300}, {0, 2, 70, 0}};
  expect_right({12, 3, kHeadSize, true}, runs);
}

TEST_F(BatchAttentionTest, a_prompt_behind_earlier_text) {
  const std::vector<TokenRun> runs{{0, 0, 45, 500}};
  expect_right({3, 3, kHeadSize, true}, runs);
}

TEST_F(BatchAttentionTest, more_heads_than_one_unit_takes) {
  const std::vector<TokenRun> runs{{0, 0, 3, 290}, {1, 3, 9, 40}};
  expect_right({3 * 37, 3, kHeadSize, true}, runs);
}

TEST_F(BatchAttentionTest, without_causality_every_token_sees_its_whole_text) {
  const std::vector<TokenRun> runs{{0, 0, 40, 0}, {1, 40, 3, 0}};
  expect_right({6, 3, kHeadSize, false}, runs);
}

}  // namespace
}  // namespace trilobite::model
