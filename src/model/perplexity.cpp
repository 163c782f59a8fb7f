#include "model/perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trilobite::model {
namespace {

// Of the normal distribution, for 95 %.
constexpr double kTwoSided95 = 1.959964;

}  // namespace

double negative_log_likelihood(std::span<const float> logits, int32_t token) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum) - static_cast<double>(logits[static_cast<size_t>(token)]);
}

Result<Perplexity> perplexity(Engine& engine, std::span<const int32_t> ids,
                              std::optional<int32_t> bos) {
  if (bos && !ids.empty() && ids.front() == *bos) ids = ids.subspan(1);
  const size_t step = engine.context() - (bos ? 1 : 0);
  // A window of one token predicts nothing.
  if (engine.context() < 2) return fail("perplexity needs a context of at least 2 tokens");
  double sum = 0;
  double squares = 0;
  size_t count = 0;
  std::vector<int32_t> window;
  for (size_t start = 0; start < ids.size(); start += step) {
    const auto part = ids.subspan(start, std::min(step, ids.size() - start));
    window.clear();
    if (bos) window.push_back(*bos);
    window.insert(window.end(), part.begin(), part.end());
    engine.truncate(0);
    const auto done = engine.feed_each({0, window}, [&](size_t i, std::span<const float> logits) {
      if (i + 1 == window.size()) return;
      const double nll = negative_log_likelihood(logits, window[i + 1]);
      sum += nll;
      squares += nll * nll;
      ++count;
    });
    if (!done) return fail_from(done);
  }
  if (count < 2) return fail("the text is too short: at least two tokens must be predicted");
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  const double variance = std::max(0.0, (squares - sum * mean) / (n - 1));
  if (!std::isfinite(mean))
    return fail("a logit is not a finite number; the model's weights may be damaged");
  const double half = kTwoSided95 * std::sqrt(variance / n);
  // No token is likelier than certain.
  const double low = std::max(1.0, std::exp(mean - half));
  return Perplexity{mean, std::exp(mean), low, std::exp(mean + half), count};
}

}  // namespace trilobite::model
