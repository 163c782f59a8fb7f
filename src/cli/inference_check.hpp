#pragma once
// Is what the engine computes right? Its logits (or embeddings) beside those of the slow reference
// model, or, where that would take too much memory, beside its own token by token.

#include "cli/inference_run.hpp"

namespace trilobite::cli {

/// Compares the first tokens of `prompt`.
Result<Correctness> check_inference(const ModelOptions& model, const model::EngineOptions& options,
                                    std::span<const int32_t> prompt);

}  // namespace trilobite::cli
