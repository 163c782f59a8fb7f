#include "model/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"

namespace trilobite::model {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

}  // namespace

Result<void> check(const SamplerOptions& options) {
  const auto outside = [](float value, float low, float high) {
    return !(value >= low && value <= high);
  };
  if (outside(options.temperature, 0.0f, 100.0f))
    return fail(
        fmt::format("the temperature is {}; it should be 0 (greedy) to 100", options.temperature));
  if (outside(options.top_p, 0.0f, 1.0f) || options.top_p == 0.0f)
    return fail(fmt::format("top-p is {}; it should be above 0 and at most 1", options.top_p));
  if (outside(options.min_p, 0.0f, 1.0f))
    return fail(fmt::format("min-p is {}; it should be 0 to 1", options.min_p));
  if (outside(options.repetition_penalty, 0.01f, 100.0f))
    return fail(fmt::format("the repetition penalty is {}; it should be 0.01 to 100",
                            options.repetition_penalty));
  return {};
}

Result<int32_t> greedy_token(std::span<const float> logits) {
  size_t best = 0;
  bool has_nan = false;
  for (size_t i = 0; i < logits.size(); ++i) {
    has_nan |= std::isnan(logits[i]);
    if (logits[i] > logits[best]) best = i;
  }
  // Beside an infinite largest one no other has a likelihood.
  if (has_nan || logits.empty() || !std::isfinite(logits[best]))
    return fail("a logit is not a finite number; the model's weights may be damaged");
  return static_cast<int32_t>(best);
}

Sampler::Sampler(const SamplerOptions& options, size_t vocabulary) : options_(options) {
  candidates_.reserve(vocabulary);
  probabilities_.reserve(vocabulary);
}

// As Keskar et al. (CTRL, 2019): what has occurred becomes less likely whatever its sign.
void Sampler::penalize(std::span<const int32_t> history) {
  if (options_.repetition_penalty == 1.0f) return;
  const auto recent = history.last(std::min(history.size(), options_.repetition_window));
  for (size_t i = 0; i < recent.size(); ++i) {
    const auto earlier = recent.first(i);
    const auto token = static_cast<size_t>(recent[i]);
    if (token >= candidates_.size() || std::ranges::find(earlier, recent[i]) != earlier.end())
      continue;
    float& logit = candidates_[token].logit;
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    logit = std::clamp(logit, -kLargest, kLargest);
  }
}

void Sampler::keep_top_k() {
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  if (options_.top_k != 0 && options_.top_k < candidates_.size()) {
    const auto end = candidates_.begin() + static_cast<ptrdiff_t>(options_.top_k);
    std::ranges::nth_element(candidates_, end, likelier);
    candidates_.erase(end, candidates_.end());
  }
  std::ranges::sort(candidates_, likelier);
}

void Sampler::to_probabilities() {
  probabilities_.clear();
  double sum = 0;
  for (const auto& candidate : candidates_) {
    const double weight = std::exp(
        static_cast<double>((candidate.logit - candidates_[0].logit) / options_.temperature));
    probabilities_.push_back(static_cast<float>(weight));
    sum += weight;
  }
  for (auto& probability : probabilities_) probability /= static_cast<float>(sum);
}

void Sampler::keep_top_p_and_min_p() {
  const float least = options_.min_p * probabilities_[0];
  double sum = 0;
  size_t kept = 0;
  while (kept < probabilities_.size() && probabilities_[kept] >= least) {
    sum += static_cast<double>(probabilities_[kept]);
    ++kept;
    if (sum >= static_cast<double>(options_.top_p)) break;
  }
  probabilities_.resize(kept);
}

int32_t Sampler::draw() {
  double sum = 0;
  for (const float probability : probabilities_) sum += static_cast<double>(probability);
  const double point = Rng(options_.seed, drawn_++).uniform() * sum;
  double passed = 0;
  for (size_t i = 0; i < probabilities_.size(); ++i) {
    passed += static_cast<double>(probabilities_[i]);
    if (point < passed) return candidates_[i].token;
  }
  return candidates_[probabilities_.size() - 1].token;
}

Result<int32_t> Sampler::next(std::span<const float> logits, std::span<const int32_t> history) {
  const bool greedy = options_.temperature == 0.0f;
  auto best = greedy_token(logits);  // also the check for NaN
  if (!best || (greedy && options_.repetition_penalty == 1.0f)) return best;
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    candidates_.push_back({logits[i], static_cast<int32_t>(i)});
  penalize(history);
  if (greedy) return std::ranges::max_element(candidates_, {}, &Candidate::logit)->token;
  keep_top_k();
  to_probabilities();
  keep_top_p_and_min_p();
  return draw();
}

}  // namespace trilobite::model
