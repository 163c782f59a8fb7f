#include "cli/inference_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/reference_model.hpp"
#include "quant/error_measures.hpp"
#include "report/human_units.hpp"

namespace trilobite::cli {
namespace {

// The reference keeps every weight as f32 and computes in double, without kernels or threads.
constexpr uint64_t kLargestReference = 60'000'000;
constexpr size_t kPositions = 8;
// Int8 activations leave a relative error of up to 6 % on models of random weights (their noise is
// measured in docs/inference.md); a wrong forward pass is far below this.
constexpr double kLeastCosine = 0.99;
// The same kernels with other batch sizes round activations in the same way.
constexpr double kLeastOwnCosine = 0.999;

using Rows = std::vector<std::vector<float>>;

bool all_finite(std::span<const float> row) {
  return std::ranges::all_of(row, [](float value) { return std::isfinite(value); });
}

Correctness compare(const Rows& ours, const Rows& reference) {
  Correctness result{.positions = ours.size(), .cosine = 1};
  size_t agreeing = 0;
  bool finite = true;
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto errors = quant::measure_error(reference[i], ours[i]);
    finite = finite && all_finite(ours[i]) && all_finite(reference[i]);
    result.cosine = std::min(result.cosine, errors.cosine);
    result.max_error = std::max(result.max_error, errors.max_abs_error);
    const auto top = [](const std::vector<float>& row) {
      return std::ranges::max_element(row) - row.begin();
    };
    agreeing += static_cast<size_t>(top(ours[i]) == top(reference[i]));
  }
  if (!finite) result.cosine = std::nan("");  // which passes no gate
  result.top_token_share = static_cast<double>(agreeing) / static_cast<double>(ours.size());
  return result;
}

Result<Rows> embedded_rows(model::Engine& engine, std::span<const std::vector<int32_t>> texts) {
  const auto values = engine.embed(texts, model::Pooling::none);
  if (!values) return fail_from(values);
  const auto width = static_cast<ptrdiff_t>(engine.config().width);
  Rows rows;
  for (auto row = values->begin(); row != values->end(); row += width)
    rows.emplace_back(row, row + width);
  return rows;
}

/// What the engine gives for every token of one text.
Result<Rows> rows_of(model::Engine& engine, const std::vector<int32_t>& tokens) {
  if (!engine.config().is_causal) return embedded_rows(engine, {&tokens, 1});
  Rows rows;
  engine.truncate(0);
  const auto done = engine.feed_each({0, tokens}, [&](size_t, std::span<const float> logits) {
    rows.emplace_back(logits.begin(), logits.end());
  });
  if (!done) return fail_from(done);
  return rows;
}

Result<Rows> rows_token_by_token(model::Engine& engine, const std::vector<int32_t>& tokens) {
  engine.truncate(0);
  Rows rows;
  for (const int32_t token : tokens) {
    const model::Feed feed{0, {&token, 1}};
    if (auto done = engine.feed({&feed, 1}); !done) return fail_from(done);
    rows.emplace_back(engine.logits(0).begin(), engine.logits(0).end());
  }
  return rows;
}

/// The same in another way: token by token, or together with another text.
Result<Rows> rows_otherwise(model::Engine& engine, const std::vector<int32_t>& tokens) {
  if (!engine.config().is_causal) {
    const std::vector<std::vector<int32_t>> texts{tokens, {tokens.front()}};
    auto rows = embedded_rows(engine, texts);
    if (rows) rows->resize(tokens.size());
    return rows;
  }
  return rows_token_by_token(engine, tokens);
}

Result<Rows> reference_rows(const model::Engine& engine, const model::EngineOptions& options,
                            const std::vector<int32_t>& tokens) {
  const auto reference = model::ReferenceModel::load(
      engine.file().contents(),
      {.i2s_layout = options.weights.i2s_layout, .gelu_erf = options.gelu_erf});
  if (!reference) return fail_from(reference);
  const auto hidden = reference->hidden(tokens);
  Rows rows;
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (engine.config().is_causal) {
      rows.push_back(reference->logits(hidden, t));
    } else {
      const auto width = engine.config().width;
      rows.emplace_back(hidden.begin() + static_cast<ptrdiff_t>(t * width),
                        hidden.begin() + static_cast<ptrdiff_t>((t + 1) * width));
    }
  }
  return rows;
}

}  // namespace

Result<Correctness> check_inference(const ModelOptions& model, const model::EngineOptions& options,
                                    std::span<const int32_t> prompt) {
  auto engine = model::Engine::load(model.file, options);
  if (!engine) return fail_from(engine);
  const std::vector<int32_t> tokens(
      prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(std::min(prompt.size(), kPositions)));
  const auto ours = rows_of(*engine, tokens);
  if (!ours) return fail_from(ours);
  uint64_t parameters = 0;
  for (const auto& tensor : engine->file().contents().tensors()) parameters += tensor.elements();
  if (parameters <= kLargestReference) {
    const auto rows = reference_rows(*engine, options, tokens);
    if (!rows) return fail_from(rows);
    auto result = compare(*ours, *rows);
    result.reference = "the reference model in double precision";
    result.passed = result.cosine >= kLeastCosine;
    return result;
  }
  const auto rows = rows_otherwise(*engine, tokens);
  if (!rows) return fail_from(rows);
  auto result = compare(*ours, *rows);
  result.reference = engine->config().is_causal ? "the same tokens one at a time"
                                                : "the same text beside another one";
  result.passed = result.cosine >= kLeastOwnCosine;
  result.unavailable =
      fmt::format("the reference model keeps every weight as f32: {} would be needed",
                  human_bytes(4.0 * static_cast<double>(parameters)));
  return result;
}

}  // namespace trilobite::cli
