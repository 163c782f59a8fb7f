#pragma once
// The same model and prompt through another engine and through ours: do they say the same, and what
// does each take? Both sides run as processes of their own, in turns.

#include <chrono>
#include <string>
#include <vector>

#include "cli/model_options.hpp"

namespace trilobite::cli {

struct CrossvalPlan {
  ModelOptions model;
  Path engine;
  std::string prompt = "once upon a time there was a small trilobite";
  size_t tokens = 32;
  size_t prompt_tokens = 128;  // of the speed measurement
  size_t iterations = 3;
  std::chrono::nanoseconds timeout{};  // of each run of either side
};

/// One side's figures, a value for each iteration.
struct SideFigures {
  std::vector<double> prefill;         // tokens per second
  std::vector<double> decode;          // tokens per second
  std::vector<double> first_token_ms;  // from the start of the process to its end after one token
  std::vector<double> peak_mb;         // of the process that generated
};

struct CrossvalResult {
  std::string engine;
  std::string engine_failed;    // how it crashed or ran out of time; nothing after that is there
  std::vector<int32_t> tokens;  // ours
  std::string text;             // ours
  std::string other_text;
  size_t agreeing_tokens = 0;  // of ours, until the texts part
  bool other_ended = false;    // the other text does not differ, it is shorter
  // Of the logits after the prompt; absent with a reason.
  std::string logits_unavailable = "they were not reached";
  double cosine = 0;
  double max_error = 0;
  bool same_top_token = false;
  bool same_prompt_ids = false;
  SideFigures ours;
  SideFigures theirs;
  std::string speed_unavailable;
};

Result<CrossvalResult> cross_validate(const CrossvalPlan& plan);

}  // namespace trilobite::cli
