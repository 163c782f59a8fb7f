#include "model/expected_tensors.hpp"

#include <fmt/format.h>

#include <string_view>

namespace trilobite::model {
namespace {

/// Collects the tensors of one model.
class Collector {
 public:
  explicit Collector(const ModelConfig& config) : config_(config) {}

  void layer(size_t index) {
    prefix_ = fmt::format("blk.{}.", index);
    const bool is_bert = config_.architecture == Architecture::bert;
    const size_t query = config_.query_width();
    const size_t kv = config_.kv_width();
    norm(is_bert ? "attn_output_norm" : "attn_norm", config_.width);
    norm(is_bert ? "layer_output_norm" : "ffn_norm", config_.width);
    if (config_.architecture == Architecture::gpt2) {
      linear("attn_qkv", config_.width, query + 2 * kv);
    } else {
      linear("attn_q", config_.width, query);
      linear("attn_k", config_.width, kv);
      linear("attn_v", config_.width, kv);
    }
    linear("attn_output", query, config_.width);
    if (config_.has_sub_norms) {
      norm("attn_sub_norm", query);
      norm("ffn_sub_norm", config_.feed_forward_width);
    }
    if (config_.feed_forward != FeedForward::gelu)
      linear("ffn_gate", config_.width, config_.feed_forward_width);
    linear("ffn_up", config_.width, config_.feed_forward_width);
    linear("ffn_down", config_.feed_forward_width, config_.width);
  }

  void outside_layers() {
    prefix_.clear();
    add("token_embd.weight", config_.width, config_.vocabulary);
    if (config_.has_centered_norms()) add("position_embd.weight", config_.width, config_.context);
    if (config_.architecture == Architecture::bert) {
      add("token_types.weight", config_.width, 2);
      norm("token_embd_norm", config_.width);
      return;
    }
    norm("output_norm", config_.width);
    add("output.weight", config_.width, config_.vocabulary, true);
    if (config_.rope) add("rope_freqs.weight", config_.rope->dimensions / 2, 1, true);
  }

  std::vector<ExpectedTensor> take() { return std::move(tensors_); }

 private:
  void add(std::string_view name, size_t columns, size_t rows, bool is_optional = false) {
    tensors_.push_back({prefix_ + std::string(name), columns, rows, is_optional});
  }
  void norm(std::string_view name, size_t width) {
    add(fmt::format("{}.weight", name), width, 1);
    if (config_.has_centered_norms()) add(fmt::format("{}.bias", name), width, 1);
  }
  void linear(std::string_view name, size_t columns, size_t rows) {
    add(fmt::format("{}.weight", name), columns, rows);
    add(fmt::format("{}.bias", name), rows, 1, !config_.has_centered_norms());
    add(fmt::format("{}.scale", name), 1, 1, true);
  }

  const ModelConfig& config_;
  std::string prefix_;
  std::vector<ExpectedTensor> tensors_;
};

}  // namespace

std::vector<ExpectedTensor> expected_tensors(const ModelConfig& config) {
  Collector collector(config);
  collector.outside_layers();
  for (size_t i = 0; i < config.layers; ++i) collector.layer(i);
  return collector.take();
}

Result<void> check_tensors(const gguf::Gguf& file, const ModelConfig& config) {
  // Each layer has tensors of its own: a count that the file cannot hold ends here.
  if (config.layers > file.tensors().size()) {
    return fail(fmt::format("the file announces {} layers, but has {} tensors", config.layers,
                            file.tensors().size()));
  }
  for (const auto& expected : expected_tensors(config)) {
    const auto* tensor = file.find_tensor(expected.name);
    if (tensor == nullptr && expected.is_optional) continue;
    if (tensor == nullptr) return fail(fmt::format("the tensor '{}' is missing", expected.name));
    if (tensor->columns() != expected.columns || tensor->rows() != expected.rows) {
      return fail(fmt::format("tensor '{}' has the shape {}, but {}x{} is needed", expected.name,
                              tensor->shape_text(), expected.columns, expected.rows));
    }
  }
  return {};
}

}  // namespace trilobite::model
