#include "cli/model_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/log.hpp"
#include "base/parse_number.hpp"
#include "kernels/isa.hpp"

namespace trilobite::cli {
namespace {

Result<void> narrow_isa(const std::string& flag) {
  const char* variable = std::getenv("TRILOBITE_ISA");
  if (flag.empty() && variable == nullptr) return {};
  auto set = kernels::set_isa(flag.empty() ? variable : flag);
  return set ? set : fail_from(set, flag.empty() ? "TRILOBITE_ISA" : "--isa");
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("-m,--model", options.file, "a GGUF file")->required();
  app.add_option("--threads", options.threads, "0: all CPUs that may be used")
      ->check(CLI::Range(0, 1024));
  app.add_option("--context", options.context,
                 fmt::format("tokens of a sequence (default: the model's, at most {})",
                             model::kDefaultContext))
      ->check(CLI::Range(0, INT32_MAX));
  app.add_option(
         "--batch-tokens", options.batch_tokens,
         "tokens of a prompt that run through the layers together; 0: 256, or 512 for floats")
      ->check(CLI::Range(0, 65536));
  app.add_option("--kv", options.kv,
                 "type of cached keys and values; auto: f32 while they are small, else f16")
      ->check(CLI::IsMember({"auto", "f32", "f16", "int8"}));
  app.add_option("--weights", options.weights,
                 "mapped: read where they lie in the file; packed: copied into tiles at load")
      ->check(CLI::IsMember({"mapped", "packed"}));
  app.add_option("--ternary-bits", options.ternary_bits, "how ternary weights are kept in memory")
      ->check(CLI::IsMember({"2.0", "1.6"}));
  app.add_option("--i2s-layout", options.i2s_layout,
                 "order of the codes in I2_S tensors, which their file does not say")
      ->check(CLI::IsMember(kI2sLayoutNames));
  app.add_option("--gelu", options.gelu, "gpt2 and bert: which GELU")
      ->check(CLI::IsMember({"tanh", "erf"}));
  app.add_option("--isa", options.isa, "use no more than this instruction set");
}

std::vector<std::string> words_of(const ModelOptions& options) {
  std::vector<std::string> words{"--model",        options.file,
                                 "--threads",      std::to_string(options.threads),
                                 "--batch-tokens", std::to_string(options.batch_tokens),
                                 "--kv",           options.kv,
                                 "--weights",      options.weights,
                                 "--ternary-bits", options.ternary_bits,
                                 "--i2s-layout",   options.i2s_layout,
                                 "--gelu",         options.gelu};
  const auto add = [&](const char* flag, const std::string& value) {
    words.insert(words.end(), {flag, value});
  };
  if (options.context != 0) add("--context", std::to_string(options.context));
  if (!options.isa.empty()) add("--isa", options.isa);
  return words;
}

Result<model::EngineOptions> engine_options(const ModelOptions& options) {
  if (auto narrowed = narrow_isa(options.isa); !narrowed) return fail_from(narrowed);
  model::EngineOptions engine{.threads = options.threads,
                              .context = options.context,
                              .batch_tokens = options.batch_tokens,
                              .gelu_erf = options.gelu == "erf"};
  if (options.kv == "f32") engine.kv_type = kernels::KvType::f32;
  if (options.kv == "f16") engine.kv_type = kernels::KvType::f16;
  if (options.kv == "int8") engine.kv_type = kernels::KvType::int8;
  engine.weights.packs_all = options.weights == "packed";
  if (options.ternary_bits == "1.6")
    engine.weights.ternary_form = quant::TernaryForm::five_trits_a_byte;
  engine.weights.i2s_layout = parse_i2s_layout(options.i2s_layout);
  return engine;
}

std::optional<quant::I2sLayout> parse_i2s_layout(std::string_view name) {
  for (const auto layout : quant::kI2sLayouts) {
    if (quant::name_of(layout) == name) return layout;
  }
  return std::nullopt;
}

Result<model::Engine> load_engine(const ModelOptions& options) {
  const auto chosen = engine_options(options);
  if (!chosen) return fail_from(chosen);
  return model::Engine::load(options.file, *chosen);
}

void warn_unless_finite(std::span<const float> values) {
  const auto count = std::ranges::count_if(values, [](float v) { return !std::isfinite(v); });
  if (count != 0) {
    log::warn("{} of {} values are not finite; the model's weights may be damaged", count,
              values.size());
  }
}

Result<std::vector<int32_t>> parse_ids(const std::string& text) {
  std::vector<int32_t> ids;
  if (text.empty()) return fail("--ids: there are none");
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const auto id = parse_int(std::string_view(text).substr(start, end - start));
    if (!id) return fail_from(id, "--ids");
    if (*id < 0 || *id > INT32_MAX) return fail(fmt::format("--ids: {} is no token id", *id));
    ids.push_back(static_cast<int32_t>(*id));
    start = end + 1;
  }
  return ids;
}

}  // namespace trilobite::cli
