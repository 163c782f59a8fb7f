#pragma once
// The forward pass of a transformer on CPU kernels: token ids in, hidden states and logits out.
// All memory is taken when it is made; running allocates nothing.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/cpu_info.hpp"
#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/gemm.hpp"
#include "model/batch_attention.hpp"
#include "model/kv_cache.hpp"
#include "model/projection_input.hpp"
#include "model/rope_table.hpp"
#include "model/transformer_weights.hpp"

namespace trilobite::model {

struct ForwardOptions {
  size_t max_tokens = 512;  // of one batch
  size_t sequences = 1;     // that are kept at the same time
  size_t context = 0;       // positions of a sequence
  kernels::KvType kv_type = kernels::KvType::f16;
  bool gelu_erf = false;  // instead of its tanh approximation
};

class Forward {
 public:
  /// Keeps references to weights and pool: both outlive it.
  static Result<Forward> create(const TransformerWeights& weights, ThreadPool& pool,
                                const CpuInfo& cpu, const ForwardOptions& options);

  /// Runs one batch: the rows of `runs` follow each other and make up `tokens`. Ids and positions
  /// must be within vocabulary and context. A causal model appends to its cache; the lengths of its
  /// sequences are the caller's to set. An error when an activation is not finite.
  Result<void> run(std::span<const int32_t> tokens, std::span<const TokenRun> runs);

  /// The hidden state of a row of the latest batch, before the last norm; [width].
  std::span<const float> hidden(size_t row) const;
  /// Logits of rows of the latest batch; out is [rows][vocabulary].
  Result<void> logits(std::span<const size_t> rows, float* out);

  KvCache& cache() { return *cache_; }
  const KvCache& cache() const { return *cache_; }
  size_t max_tokens() const { return options_.max_tokens; }
  /// Of everything but weights and cache.
  size_t scratch_bytes() const;

 private:
  Forward(const TransformerWeights& weights, ThreadPool& pool, const CpuInfo& cpu,
          const ForwardOptions& options);
  Result<void> reserve();
  Result<void> reserve_rope();

  void embed(std::span<const int32_t> tokens, std::span<const TokenRun> runs);
  Result<void> attention_part(size_t index, std::span<const TokenRun> runs);
  Result<void> feed_forward_part(const Layer& layer);
  Result<void> project_heads(const Layer& layer);
  void turn_and_store(size_t layer, std::span<const TokenRun> runs);
  void attend(size_t layer, std::span<const TokenRun> runs);
  void activate(const Layer& layer);
  void normalize_row(const Norm& norm, const float* from, float* to) const;
  /// to = norm(from), row by row.
  void normalize(const Norm& norm, const float* from, float* to);
  void add(const float* from);
  template <typename Task>
  void for_rows(Task&& task);

  const TransformerWeights& weights_;
  const ModelConfig& config_;
  ThreadPool& pool_;
  ForwardOptions options_;
  kernels::Gemm gemm_;
  std::optional<RopeTable> rope_;
  std::optional<KvCache> cache_;
  std::optional<BatchAttention> attention_;
  std::optional<ProjectionInput> input_;

  size_t rows_ = 0;         // of the latest batch
  AlignedBuffer x_;         // [tokens][width], the residual stream
  AlignedBuffer normed_;    // [tokens][widest of width, query width]
  AlignedBuffer heads_;     // [tokens][query width + 2 kv width]: q, k and v, each dense
  AlignedBuffer attended_;  // [tokens][query width]
  AlignedBuffer gate_;      // [tokens][feed-forward width]
  AlignedBuffer up_;        // [tokens][feed-forward width]

  /// Where q, k and v of the batch are, and how far apart its rows.
  struct HeadRows {
    float* q;
    float* k;
    float* v;
    size_t q_stride;
    size_t kv_stride;
  };
  HeadRows head_rows();
};

}  // namespace trilobite::model
