#include "model/forward.hpp"

#include <algorithm>

#include "kernels/elementwise.hpp"
#include "kernels/gated.hpp"
#include "kernels/rope.hpp"
#include "kernels/rows.hpp"

namespace trilobite::model {
namespace {

// Rows that a thread takes at least when a step works row by row.
constexpr size_t kRowGrain = 4;

Result<void> allocate(AlignedBuffer& to, size_t rows, size_t columns) {
  auto buffer = AlignedBuffer::allocate(rows * columns * sizeof(float));
  if (!buffer) return fail_from(buffer, "the activations");
  to = *std::move(buffer);
  return {};
}

float* floats(AlignedBuffer& buffer) { return buffer.as<float>().data(); }

}  // namespace

Forward::Forward(const TransformerWeights& weights, ThreadPool& pool, const CpuInfo& cpu,
                 const ForwardOptions& options)
    : weights_(weights),
      config_(weights.config),
      pool_(pool),
      options_(options),
      gemm_(pool, cpu) {}

Result<Forward> Forward::create(const TransformerWeights& weights, ThreadPool& pool,
                                const CpuInfo& cpu, const ForwardOptions& options) {
  Forward forward(weights, pool, cpu, options);
  if (auto reserved = forward.reserve(); !reserved) return fail_from(reserved);
  return forward;
}

Result<void> Forward::reserve() {
  const size_t tokens = options_.max_tokens;
  // A model that is not causal sees its own batch only.
  auto cache = KvCache::create({.layers = config_.is_causal ? config_.layers : 0,
                                .sequences = options_.sequences,
                                .capacity = options_.context,
                                .kv_heads = config_.kv_heads,
                                .head_size = config_.head_size},
                               options_.kv_type);
  if (!cache) return fail_from(cache);
  cache_ = *std::move(cache);
  auto attention = BatchAttention::create(
      {config_.heads, config_.kv_heads, config_.head_size, config_.is_causal},
      {tokens, options_.sequences, options_.context, pool_.threads()});
  if (!attention) return fail_from(attention);
  attention_ = *std::move(attention);
  const size_t query = config_.query_width();
  const size_t widest = std::max({config_.width, query, config_.feed_forward_width});
  auto input = ProjectionInput::create(tokens, widest);
  if (!input) return fail_from(input);
  input_ = *std::move(input);
  Result<void> done = allocate(x_, tokens, config_.width);
  if (done) done = allocate(normed_, tokens, std::max(config_.width, query));
  if (done) done = allocate(heads_, tokens, query + 2 * config_.kv_width());
  if (done) done = allocate(attended_, tokens, query);
  if (done) done = allocate(gate_, tokens, config_.feed_forward_width);
  if (done) done = allocate(up_, tokens, config_.feed_forward_width);
  // Last, because filling it takes time: a context that is too large has been refused by now.
  return done && config_.rope ? reserve_rope() : done;
}

Result<void> Forward::reserve_rope() {
  auto table = RopeTable::create(*config_.rope, options_.context, weights_.rope_factors);
  if (!table) return fail_from(table);
  rope_ = *std::move(table);
  return {};
}

size_t Forward::scratch_bytes() const {
  return x_.size() + normed_.size() + heads_.size() + attended_.size() + gate_.size() + up_.size() +
         input_->bytes() + attention_->bytes() + (rope_ ? rope_->bytes() : 0);
}

template <typename Task>
void Forward::for_rows(Task&& task) {
  pool_.for_range(rows_, kRowGrain, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; ++row) task(row);
  });
}

void Forward::normalize_row(const Norm& norm, const float* from, float* to) const {
  const kernels::NormCall call{.dtype = DType::f32,
                               .x = from,
                               .weight = norm.weight.data(),
                               .bias = norm.bias.data(),
                               .out = to,
                               .rows = 1,
                               .columns = norm.weight.size(),
                               .epsilon = config_.norm_epsilon};
  norm.bias.empty() ? kernels::rmsnorm(call) : kernels::layernorm(call);
}

void Forward::normalize(const Norm& norm, const float* from, float* to) {
  const size_t width = norm.weight.size();
  for_rows([&](size_t row) { normalize_row(norm, from + row * width, to + row * width); });
}

void Forward::add(const float* from) {
  float* x = floats(x_);
  const size_t width = config_.width;
  for_rows([&](size_t row) {
    kernels::binary({.op = kernels::Binary::add,
                     .dtype = DType::f32,
                     .a = x + row * width,
                     .b = from + row * width,
                     .out = x + row * width,
                     .count = width});
  });
}

void Forward::embed(std::span<const int32_t> tokens, std::span<const TokenRun> runs) {
  const size_t width = config_.width;
  float* x = floats(x_);
  for_rows([&](size_t row) {
    weights_.token_embedding->read(static_cast<size_t>(tokens[row]), {x + row * width, width});
  });
  if (!weights_.position_embedding.empty()) {
    for (const auto& run : runs) {
      for (size_t t = 0; t < run.tokens; ++t) {
        const float* position = weights_.position_embedding.data() + (run.position + t) * width;
        float* to = x + (run.first_row + t) * width;
        for (size_t i = 0; i < width; ++i) {
          to[i] += position[i];
          if (!weights_.type_embedding.empty()) to[i] += weights_.type_embedding[i];
        }
      }
    }
  }
  if (!weights_.embedding_norm.weight.empty()) normalize(weights_.embedding_norm, x, x);
}

Forward::HeadRows Forward::head_rows() {
  const size_t query = config_.query_width();
  const size_t kv = config_.kv_width();
  float* base = floats(heads_);
  if (config_.architecture == Architecture::gpt2) {
    const size_t stride = query + 2 * kv;
    return {base, base + query, base + query + kv, stride, stride};
  }
  float* k = base + rows_ * query;
  return {base, k, k + rows_ * kv, query, kv};
}

Result<void> Forward::project_heads(const Layer& layer) {
  const auto rows = head_rows();
  const Compute compute{pool_, gemm_};
  if (layer.query_key_value) return layer.query_key_value->multiply(*input_, compute, rows.q);
  return multiply_all({{*layer.query, rows.q}, {*layer.key, rows.k}, {*layer.value, rows.v}},
                      *input_, compute);
}

void Forward::turn_and_store(size_t layer, std::span<const TokenRun> runs) {
  const auto rows = head_rows();
  for (const auto& run : runs) {
    pool_.for_range(run.tokens, kRowGrain, [&](size_t first, size_t last) {
      for (size_t t = first; t < last; ++t) {
        const size_t row = run.first_row + t;
        const size_t position = run.position + t;
        float* q = rows.q + row * rows.q_stride;
        float* k = rows.k + row * rows.kv_stride;
        if (rope_) {
          kernels::RopeCall call{.pairs = config_.rope->pairs,
                                 .cosines = rope_->cosines(position),
                                 .sines = rope_->sines(position),
                                 .x = q,
                                 .heads = config_.heads,
                                 .head_size = config_.head_size};
          kernels::rope(call);
          call.x = k;
          call.heads = config_.kv_heads;
          kernels::rope(call);
        }
        if (config_.is_causal)
          cache_->store({layer, run.sequence, position}, k, rows.v + row * rows.kv_stride);
      }
    });
  }
}

void Forward::attend(size_t layer, std::span<const TokenRun> runs) {
  const auto rows = head_rows();
  const auto kv = [&](const TokenRun& run, size_t head) {
    if (config_.is_causal) return cache_->head(layer, run.sequence, head);
    const size_t at = run.first_row * rows.kv_stride + head * config_.head_size;
    return kernels::KvHead{.type = kernels::KvType::f32,
                           .keys = rows.k + at,
                           .values = rows.v + at,
                           .stride = rows.kv_stride};
  };
  attention_->run(runs, {rows.q, rows.q_stride}, kv, pool_, floats(attended_));
}

Result<void> Forward::attention_part(size_t index, std::span<const TokenRun> runs) {
  const Layer& layer = weights_.layers[index];
  const size_t query = config_.query_width();
  const bool is_bert = config_.architecture == Architecture::bert;
  if (!is_bert) normalize(layer.attention_norm, floats(x_), floats(normed_));
  input_->set(is_bert ? floats(x_) : floats(normed_), rows_, config_.width);
  if (auto done = project_heads(layer); !done) return done;
  turn_and_store(index, runs);
  attend(index, runs);
  if (config_.has_sub_norms)
    normalize(layer.attention_sub_norm, floats(attended_), floats(attended_));
  input_->set(floats(attended_), rows_, query);
  auto done = layer.attention_output->multiply(*input_, {pool_, gemm_}, floats(normed_));
  if (!done) return done;
  add(floats(normed_));
  if (is_bert) normalize(layer.attention_norm, floats(x_), floats(x_));
  return {};
}

void Forward::activate(const Layer& layer) {
  const size_t width = config_.feed_forward_width;
  for_rows([&](size_t row) {
    float* up = floats(up_) + row * width;
    if (config_.feed_forward == FeedForward::gelu) {
      kernels::activation(
          {.op = options_.gelu_erf ? kernels::Activation::gelu_erf : kernels::Activation::gelu_tanh,
           .dtype = DType::f32,
           .x = up,
           .out = up,
           .count = width});
      return;
    }
    const bool is_silu = config_.feed_forward == FeedForward::silu_gate;
    kernels::gated({.gate_op = is_silu ? kernels::Gate::silu : kernels::Gate::relu_squared,
                    .gate = floats(gate_) + row * width,
                    .up = up,
                    .out = up,
                    .count = width});
  });
  if (config_.has_sub_norms) normalize(layer.feed_forward_sub_norm, floats(up_), floats(up_));
}

Result<void> Forward::feed_forward_part(const Layer& layer) {
  const Compute compute{pool_, gemm_};
  const bool is_bert = config_.architecture == Architecture::bert;
  if (!is_bert) normalize(layer.feed_forward_norm, floats(x_), floats(normed_));
  input_->set(is_bert ? floats(x_) : floats(normed_), rows_, config_.width);
  auto widened = layer.gate ? multiply_all({{*layer.gate, floats(gate_)}, {*layer.up, floats(up_)}},
                                           *input_, compute)
                            : layer.up->multiply(*input_, compute, floats(up_));
  if (!widened) return widened;
  activate(layer);
  input_->set(floats(up_), rows_, config_.feed_forward_width);
  if (auto done = layer.down->multiply(*input_, compute, floats(normed_)); !done) return done;
  add(floats(normed_));
  if (is_bert) normalize(layer.feed_forward_norm, floats(x_), floats(x_));
  return {};
}

Result<void> Forward::run(std::span<const int32_t> tokens, std::span<const TokenRun> runs) {
  TRILOBITE_CHECK(tokens.size() <= options_.max_tokens);
  rows_ = tokens.size();
  embed(tokens, runs);
  for (size_t layer = 0; layer < config_.layers; ++layer) {
    if (auto done = attention_part(layer, runs); !done) return done;
    if (auto done = feed_forward_part(weights_.layers[layer]); !done) return done;
  }
  return {};
}

std::span<const float> Forward::hidden(size_t row) const {
  TRILOBITE_CHECK(row < rows_);
  return {reinterpret_cast<const float*>(x_.data()) + row * config_.width, config_.width};
}

Result<void> Forward::logits(std::span<const size_t> rows, float* out) {
  TRILOBITE_CHECK(weights_.head.has_value() && rows.size() <= options_.max_tokens);
  const size_t width = config_.width;
  for (size_t i = 0; i < rows.size(); ++i)
    normalize_row(weights_.output_norm, hidden(rows[i]).data(), floats(normed_) + i * width);
  input_->set(floats(normed_), rows.size(), width);
  return weights_.head->multiply(*input_, {pool_, gemm_}, out);
}

}  // namespace trilobite::model
