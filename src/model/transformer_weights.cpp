#include "model/transformer_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trilobite::model {
namespace {

Layer load_layer(WeightLoader& loader, const ModelConfig& config, size_t index) {
  const auto name = [&](std::string_view part) { return fmt::format("blk.{}.{}", index, part); };
  const bool is_bert = config.architecture == Architecture::bert;
  const auto norm = [&](std::string_view part) {
    return loader.norm(name(part), config.has_centered_norms());
  };
  return {.attention_norm = norm(is_bert ? "attn_output_norm" : "attn_norm"),
          .query_key_value = loader.linear(name("attn_qkv")),
          .query = loader.linear(name("attn_q")),
          .key = loader.linear(name("attn_k")),
          .value = loader.linear(name("attn_v")),
          .attention_sub_norm = norm("attn_sub_norm"),
          .attention_output = loader.linear(name("attn_output")),
          .feed_forward_norm = norm(is_bert ? "layer_output_norm" : "ffn_norm"),
          .gate = loader.linear(name("ffn_gate")),
          .up = loader.linear(name("ffn_up")),
          .down = loader.linear(name("ffn_down")),
          .feed_forward_sub_norm = norm("ffn_sub_norm")};
}

void load_outside_layers(WeightLoader& loader, TransformerWeights& weights) {
  weights.token_embedding = loader.rows("token_embd.weight");
  weights.position_embedding = loader.vector("position_embd.weight");
  weights.type_embedding = loader.vector("token_types.weight");
  weights.type_embedding.resize(std::min(weights.type_embedding.size(), weights.config.width));
  weights.embedding_norm = loader.norm("token_embd_norm", true);
  if (weights.config.architecture == Architecture::bert) return;
  weights.output_norm = loader.norm("output_norm", weights.config.has_centered_norms());
  weights.rope_factors = loader.vector("rope_freqs.weight");
  weights.head = loader.linear(loader.find("output.weight") != nullptr ? "output" : "token_embd");
}

}  // namespace

void TransformerWeights::for_each_linear(const std::function<void(const Linear&)>& visit) const {
  const auto visit_if_there = [&](const std::optional<Linear>& linear) {
    if (linear) visit(*linear);
  };
  for (const auto& layer : layers) {
    for (const auto* linear : {&layer.query_key_value, &layer.query, &layer.key, &layer.value,
                               &layer.attention_output, &layer.gate, &layer.up, &layer.down}) {
      visit_if_there(*linear);
    }
  }
  visit_if_there(head);
}

size_t TransformerWeights::bytes_per_token() const {
  size_t bytes = 0;
  for_each_linear([&](const Linear& linear) { bytes += linear.bytes(); });
  return bytes;
}

Result<TransformerWeights> load_transformer(const gguf::GgufFile& file, ThreadPool& pool,
                                            const WeightOptions& options) {
  auto config = read_config(file.contents());
  if (!config) return fail_from(config);
  auto tensors = model_tensors(file.contents());
  if (!tensors) return fail_from(tensors);
  TransformerWeights weights{.config = *std::move(config)};
  WeightLoader loader(file, *std::move(tensors), pool, options);
  // The head first: it is the largest, and while a tensor is repacked it is in memory twice.
  load_outside_layers(loader, weights);
  for (size_t i = 0; i < weights.config.layers; ++i) {
    weights.layers.push_back(load_layer(loader, weights.config, i));
    if (auto good = loader.finish(); !good) return fail_from(good);
  }
  if (auto good = loader.finish(); !good) return fail_from(good);
  weights.memory = loader.memory();
  return weights;
}

}  // namespace trilobite::model
