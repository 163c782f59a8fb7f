#pragma once
// From logits to the next token: greedy, or drawn from the tempered distribution after top-k,
// top-p, min-p and the repetition penalty. The same seed gives the same tokens everywhere.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace trilobite::model {

struct SamplerOptions {
  float temperature = 0.0f;  // 0: greedy
  size_t top_k = 0;          // 0: all
  float top_p = 1.0f;        // the likeliest tokens that together have this probability
  float min_p = 0.0f;        // at least this share of the likeliest token's probability
  float repetition_penalty = 1.0f;
  size_t repetition_window = 64;  // latest tokens that the penalty looks at
  uint64_t seed = 42;
};
/// An error says which option is impossible.
Result<void> check(const SamplerOptions& options);

class Sampler {
 public:
  /// Takes its memory at once. Options must have been checked.
  Sampler(const SamplerOptions& options, size_t vocabulary);

  /// The next token after `history`. An error when a logit is NaN.
  Result<int32_t> next(std::span<const float> logits, std::span<const int32_t> history);

 private:
  struct Candidate {
    float logit;
    int32_t token;
  };
  void penalize(std::span<const int32_t> history);
  void keep_top_k();
  /// Sorts what is kept, likeliest first, and turns logits into probabilities.
  void to_probabilities();
  void keep_top_p_and_min_p();
  int32_t draw();

  SamplerOptions options_;
  uint64_t drawn_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<float> probabilities_;
};

/// The token with the largest logit; of equal ones the first. An error when one is NaN.
Result<int32_t> greedy_token(std::span<const float> logits);

}  // namespace trilobite::model
