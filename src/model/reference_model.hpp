#pragma once
// The slow, obvious forward pass that the fast one is compared with: every tensor as f32, every sum
// in double, the whole sequence at once, no cache, no threads, no kernels.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gguf/gguf_file.hpp"
#include "model/config.hpp"
#include "quant/i2s.hpp"

namespace trilobite::model {

struct ReferenceOptions {
  std::optional<quant::I2sLayout> i2s_layout;  // nothing: chosen as the engine does
  bool gelu_erf = false;
};

class ReferenceModel {
 public:
  static Result<ReferenceModel> load(const gguf::Gguf& file, const ReferenceOptions& options);

  const ModelConfig& config() const { return config_; }

  /// The last hidden state of every token, [tokens][width], before the last norm. Ids must be in
  /// the vocabulary and no more than the context.
  std::vector<double> hidden(std::span<const int32_t> ids) const;
  /// Logits of one token out of `hidden`; [vocabulary].
  std::vector<float> logits(std::span<const double> hidden, size_t token) const;

 private:
  using Rows = std::vector<double>;  // [tokens][columns]
  ReferenceModel(ModelConfig config, const ReferenceOptions& options)
      : config_(std::move(config)), options_(options) {}

  const std::vector<float>& tensor(const std::string& name) const { return tensors_.at(name); }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  Rows embed(std::span<const int32_t> ids) const;
  Rows linear(const std::string& prefix, const Rows& x, size_t columns, size_t rows) const;
  Rows norm(const std::string& prefix, const Rows& x, size_t columns) const;
  Rows attention(const std::string& block, const Rows& x) const;
  Rows feed_forward(const std::string& block, const Rows& x) const;
  void turn(Rows& x, size_t heads) const;

  ModelConfig config_;
  ReferenceOptions options_;
  std::unordered_map<std::string, std::vector<float>> tensors_;
};

}  // namespace trilobite::model
