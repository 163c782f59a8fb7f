#pragma once
// The inference benchmark: one model, loaded cold and warm, generating again and again. Only
// measures; inference_report.hpp writes it down.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.hpp"

namespace trilobite::cli {

struct InferencePlan {
  ModelOptions model;
  size_t tokens = 64;          // generated in each iteration
  size_t prompt_tokens = 512;  // read before them
  size_t iterations = 10;
  std::chrono::nanoseconds timeout{};  // for everything; what has not begun by then is left out
  std::vector<size_t> batches{1, 2, 4, 8};
  uint64_t seed = 42;  // of the prompt's tokens
};

/// One loading: until the engine is ready, and until it has given a first token.
struct LoadTime {
  double ready_ns = 0;
  double first_token_ns = 0;
};

/// Decoding several sequences in one step each.
struct BatchSpeed {
  size_t sequences = 0;
  std::vector<double> step_ns;  // all sequences one token further
  std::string unavailable;      // why there are none, if so
};

/// How the output was checked.
struct Correctness {
  std::string reference;       // what it was compared with
  std::string unavailable;     // why not with the reference device, if so; why not at all
  size_t positions = 0;        // 0: it could not be checked
  double cosine = 0;           // the least of all positions
  double top_token_share = 0;  // positions that agree on the likeliest token
  double max_error = 0;
  bool passed = false;
};

struct InferenceResult {
  // The model.
  std::string file;
  std::string name;
  std::string architecture;
  std::string types;  // "TQ2_0, Q6_K, F32", most bytes first
  uint64_t parameters = 0;
  uint64_t file_bytes = 0;
  bool is_causal = true;
  // How it ran.
  unsigned threads = 1;
  size_t context = 0;
  size_t prompt_tokens = 0;
  size_t tokens = 0;
  std::string kv_type;
  std::vector<std::pair<std::string, size_t>> kernels;
  model::EngineMemory memory;
  std::optional<uint64_t> peak_resident_bytes;  // with one sequence
  // What it took.
  std::vector<LoadTime> cold;
  std::string cold_unavailable;  // why there is no cold loading
  std::vector<LoadTime> warm;
  std::vector<double> prefill_ns;     // per iteration
  std::vector<double> token_ns;       // every decoded token of all iterations
  std::vector<double> generation_ns;  // per iteration: prompt and all tokens
  double cpu_seconds = 0;             // of the iterations
  double wall_seconds = 0;
  double bytes_per_token = 0;     // weights, and the cache at the mean position
  std::vector<double> bandwidth;  // bytes/s read by a plain loop between the iterations
  double bandwidth_working_set = 0;
  std::vector<BatchSpeed> batches;
  Correctness correctness;
  bool timed_out = false;
};

Result<InferenceResult> measure_inference(const InferencePlan& plan);

}  // namespace trilobite::cli
