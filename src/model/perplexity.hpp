#pragma once
// Perplexity: how surprised a model is, on average, by the next token of a text.

#include <cstdint>
#include <optional>
#include <span>

#include "model/engine.hpp"

namespace trilobite::model {

struct Perplexity {
  double mean_nll = 0;  // negative log likelihood of a token, in nats
  double perplexity = 0;
  double low = 0;  // 95 % interval, from the spread of the tokens' likelihoods
  double high = 0;
  size_t predicted = 0;  // tokens
};

/// The text in windows of the engine's context, one after the other, each beginning with `bos`
/// where the model has one. Every token but the first of the text (of each window, without bos) is
/// predicted once. Needs at least two predictions.
Result<Perplexity> perplexity(Engine& engine, std::span<const int32_t> ids,
                              std::optional<int32_t> bos);

/// -log softmax(logits)[token], summed in double.
double negative_log_likelihood(std::span<const float> logits, int32_t token);

}  // namespace trilobite::model
