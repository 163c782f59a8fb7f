#pragma once
// The flags that all commands with a model share.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "model/engine.hpp"

namespace trilobite::cli {

struct ModelOptions {
  std::string file;
  unsigned threads = 0;
  size_t context = 0;
  size_t batch_tokens = model::EngineOptions().batch_tokens;
  std::string kv = "auto";
  std::string weights = "mapped";
  std::string ternary_bits = "2.0";
  std::string i2s_layout = "guess";
  std::string gelu = "tanh";
  std::string isa;
};

/// --model, --threads, --context, --batch-tokens, --kv, --weights, --ternary-bits, --i2s-layout,
/// --gelu, --isa.
void add_model_options(CLI::App& app, ModelOptions& options);

/// The same flags as words, for a process of ours that should run the model in the same way.
std::vector<std::string> words_of(const ModelOptions& options);

/// What --i2s-layout takes; nothing for "guess".
inline const std::vector<std::string> kI2sLayoutNames{"guess", "x86-128", "x86-four-rows",
                                                      "arm-64"};
std::optional<quant::I2sLayout> parse_i2s_layout(std::string_view name);

/// Also narrows the instruction set.
Result<model::EngineOptions> engine_options(const ModelOptions& options);
Result<model::Engine> load_engine(const ModelOptions& options);

/// Logs how many of the values that a model computed are not finite, if any: they are written all
/// the same, because whoever compares engines wants to see them.
void warn_unless_finite(std::span<const float> values);

/// "1,2,3" as token ids.
Result<std::vector<int32_t>> parse_ids(const std::string& text);

}  // namespace trilobite::cli
