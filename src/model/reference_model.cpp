#include "model/reference_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modelfile/i2s_layout.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::model {
namespace {

void add_to(std::vector<double>& x, const std::vector<double>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

double silu(double x) { return x / (1 + std::exp(-x)); }

double gelu(double x, bool erf) {
  if (erf) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}

void softmax(std::vector<double>& scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (auto& score : scores) sum += score = std::exp(score - largest);
  for (auto& score : scores) score /= sum;
}

}  // namespace

Result<ReferenceModel> ReferenceModel::load(const gguf::Gguf& file,
                                            const ReferenceOptions& options) {
  auto config = read_config(file);
  if (!config) return fail_from(config);
  ReferenceModel model(*std::move(config), options);
  const auto tensors = model_tensors(file);
  if (!tensors) return fail_from(tensors);
  const auto layout = modelfile::choose_i2s_layout(file, options.i2s_layout);
  for (const auto& [name, info] : tensors->all()) {
    auto values = modelfile::decode_tensor(*info, layout);
    if (!values) return fail_from(values);
    model.tensors_.emplace(name, *std::move(values));
  }
  return model;
}

ReferenceModel::Rows ReferenceModel::linear(const std::string& prefix, const Rows& x,
                                            size_t columns, size_t rows) const {
  const auto& weight = tensor(prefix + ".weight");
  const double scale =
      has(prefix + ".scale") ? static_cast<double>(tensor(prefix + ".scale")[0]) : 1.0;
  const size_t tokens = x.size() / columns;
  Rows out(tokens * rows);
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (size_t c = 0; c < columns; ++c)
        sum += x[t * columns + c] * static_cast<double>(weight[r * columns + c]);
      sum *= scale;
      if (has(prefix + ".bias")) sum += static_cast<double>(tensor(prefix + ".bias")[r]);
      out[t * rows + r] = sum;
    }
  }
  return out;
}

ReferenceModel::Rows ReferenceModel::norm(const std::string& prefix, const Rows& x,
                                          size_t columns) const {
  const auto& weight = tensor(prefix + ".weight");
  const bool centered = config_.has_centered_norms();
  Rows out(x.size());
  const auto count = static_cast<double>(columns);
  for (size_t start = 0; start < x.size(); start += columns) {
    double mean = 0;
    for (size_t c = 0; c < columns && centered; ++c) mean += x[start + c] / count;
    double squares = 0;
    for (size_t c = 0; c < columns; ++c) {
      const double distance = x[start + c] - mean;
      squares += distance * distance / count;
    }
    const double scale = 1 / std::sqrt(squares + static_cast<double>(config_.norm_epsilon));
    for (size_t c = 0; c < columns; ++c) {
      out[start + c] = (x[start + c] - mean) * scale * static_cast<double>(weight[c]);
      if (centered) out[start + c] += static_cast<double>(tensor(prefix + ".bias")[c]);
    }
  }
  return out;
}

ReferenceModel::Rows ReferenceModel::embed(std::span<const int32_t> ids) const {
  const size_t width = config_.width;
  Rows x;
  for (size_t t = 0; t < ids.size(); ++t) {
    const auto id = static_cast<size_t>(ids[t]);
    for (size_t c = 0; c < width; ++c) {
      auto value = static_cast<double>(tensor("token_embd.weight")[id * width + c]);
      if (has("position_embd.weight"))
        value += static_cast<double>(tensor("position_embd.weight")[t * width + c]);
      if (has("token_types.weight")) value += static_cast<double>(tensor("token_types.weight")[c]);
      x.push_back(value);
    }
  }
  return has("token_embd_norm.weight") ? norm("token_embd_norm", x, width) : x;
}

void ReferenceModel::turn(Rows& x, size_t heads) const {
  if (!config_.rope) return;
  const auto& rope = *config_.rope;
  const size_t pairs = rope.dimensions / 2;
  const bool neighbours = rope.pairs == kernels::RopePairs::neighbours;
  const size_t size = config_.head_size;
  for (size_t row = 0; row < x.size() / size; ++row) {
    const auto position = static_cast<double>(row / heads) * rope.position_factor;
    for (size_t i = 0; i < pairs; ++i) {
      double frequency =
          std::pow(rope.base, -2.0 * static_cast<double>(i) / static_cast<double>(rope.dimensions));
      if (has("rope_freqs.weight"))
        frequency /= static_cast<double>(tensor("rope_freqs.weight")[i]);
      double& a = x[row * size + (neighbours ? 2 * i : i)];
      double& b = x[row * size + (neighbours ? 2 * i + 1 : i + pairs)];
      const double cosine = std::cos(position * frequency);
      const double sine = std::sin(position * frequency);
      const double turned = a * cosine - b * sine;
      b = a * sine + b * cosine;
      a = turned;
    }
  }
}

ReferenceModel::Rows ReferenceModel::attention(const std::string& block, const Rows& x) const {
  const size_t width = config_.width;
  const size_t tokens = x.size() / width;
  const size_t query = config_.query_width();
  const size_t kv = config_.kv_width();
  Rows q, k, v;
  if (has(block + "attn_qkv.weight")) {
    const auto all = linear(block + "attn_qkv", x, width, query + 2 * kv);
    for (size_t t = 0; t < tokens; ++t) {
      const auto* row = all.data() + t * (query + 2 * kv);
      q.insert(q.end(), row, row + query);
      k.insert(k.end(), row + query, row + query + kv);
      v.insert(v.end(), row + query + kv, row + query + 2 * kv);
    }
  } else {
    q = linear(block + "attn_q", x, width, query);
    k = linear(block + "attn_k", x, width, kv);
    v = linear(block + "attn_v", x, width, kv);
  }
  turn(q, config_.heads);
  turn(k, config_.kv_heads);
  const size_t size = config_.head_size;
  Rows out(tokens * query);
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t head = 0; head < config_.heads; ++head) {
      const size_t kv_head = head / (config_.heads / config_.kv_heads);
      std::vector<double> scores(config_.is_causal ? t + 1 : tokens);
      for (size_t s = 0; s < scores.size(); ++s) {
        for (size_t i = 0; i < size; ++i)
          scores[s] += q[t * query + head * size + i] * k[s * kv + kv_head * size + i];
        scores[s] /= std::sqrt(static_cast<double>(size));
      }
      softmax(scores);
      for (size_t s = 0; s < scores.size(); ++s) {
        for (size_t i = 0; i < size; ++i)
          out[t * query + head * size + i] += scores[s] * v[s * kv + kv_head * size + i];
      }
    }
  }
  if (config_.has_sub_norms) out = norm(block + "attn_sub_norm", out, query);
  return linear(block + "attn_output", out, query, width);
}

ReferenceModel::Rows ReferenceModel::feed_forward(const std::string& block, const Rows& x) const {
  const size_t inner = config_.feed_forward_width;
  auto up = linear(block + "ffn_up", x, config_.width, inner);
  if (config_.feed_forward == FeedForward::gelu) {
    for (auto& value : up) value = gelu(value, options_.gelu_erf);
  } else {
    const auto gate = linear(block + "ffn_gate", x, config_.width, inner);
    for (size_t i = 0; i < up.size(); ++i) {
      const double positive = std::max(gate[i], 0.0);
      up[i] *= config_.feed_forward == FeedForward::silu_gate ? silu(gate[i]) : positive * positive;
    }
  }
  if (config_.has_sub_norms) up = norm(block + "ffn_sub_norm", up, inner);
  return linear(block + "ffn_down", up, inner, config_.width);
}

std::vector<double> ReferenceModel::hidden(std::span<const int32_t> ids) const {
  auto x = embed(ids);
  for (size_t i = 0; i < config_.layers; ++i) {
    const auto block = "blk." + std::to_string(i) + ".";
    if (config_.architecture == Architecture::bert) {
      add_to(x, attention(block, x));
      x = norm(block + "attn_output_norm", x, config_.width);
      add_to(x, feed_forward(block, x));
      x = norm(block + "layer_output_norm", x, config_.width);
    } else {
      add_to(x, attention(block, norm(block + "attn_norm", x, config_.width)));
      add_to(x, feed_forward(block, norm(block + "ffn_norm", x, config_.width)));
    }
  }
  return x;
}

std::vector<float> ReferenceModel::logits(std::span<const double> hidden, size_t token) const {
  const auto row = hidden.subspan(token * config_.width, config_.width);
  const auto normed = norm("output_norm", Rows(row.begin(), row.end()), config_.width);
  const auto all = linear(has("output.weight") ? "output" : "token_embd", normed, config_.width,
                          config_.vocabulary);
  return {all.begin(), all.end()};
}

}  // namespace trilobite::model
