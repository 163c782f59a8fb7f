#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/json.hpp"
#include "cli/crossval_run.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "measure/clock.hpp"
#include "measure/environment.hpp"
#include "record/record_json.hpp"
#include "report/display_text.hpp"
#include "stats/describe.hpp"

namespace trilobite::cli {
namespace {

struct Gates {
  double agreement = 0;  // share of the tokens
  double cosine = 0;
};

/// Median and range of one side's figure, and how many times larger ours is, in pairs.
struct Figure {
  std::string name;
  const std::vector<double>& ours;
  const std::vector<double>& theirs;
};

std::vector<Figure> figures_of(const CrossvalResult& result) {
  return {{"prefill_tokens_per_second", result.ours.prefill, result.theirs.prefill},
          {"decode_tokens_per_second", result.ours.decode, result.theirs.decode},
          {"process_to_first_token_ms", result.ours.first_token_ms, result.theirs.first_token_ms},
          {"peak_resident_mb", result.ours.peak_mb, result.theirs.peak_mb}};
}

Json values_json(const std::vector<double>& values) {
  const auto sample = stats::Sample::from(values);
  if (!sample) return nullptr;
  return {{"median", stats::median(*sample)},
          {"min", sample->min()},
          {"max", sample->max()},
          {"values", values}};
}

std::vector<double> ratios_of(const Figure& figure) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(figure.ours.size(), figure.theirs.size()); ++i)
    ratios.push_back(figure.ours[i] / figure.theirs[i]);
  return ratios;
}

double agreement_of(const CrossvalResult& result) {
  return result.tokens.empty() ? 0.0
                               : static_cast<double>(result.agreeing_tokens) /
                                     static_cast<double>(result.tokens.size());
}

Json to_json(const CrossvalResult& result, const CrossvalPlan& plan) {
  Json ours = Json::object();
  Json theirs = Json::object();
  Json ratios = Json::object();
  for (const auto& figure : figures_of(result)) {
    ours[figure.name] = values_json(figure.ours);
    theirs[figure.name] = values_json(figure.theirs);
    ratios[figure.name] = values_json(ratios_of(figure));
  }
  const bool parts = result.agreeing_tokens < result.tokens.size() && !result.other_ended;
  Json json{{"timestamp", utc_now()},        {"model", plan.model.file},
            {"engine", result.engine},       {"prompt", plan.prompt},
            {"rust_implementation", ours},   {"cpp_implementation", theirs},
            {"ratio_ours_to_theirs", ratios}};
  json["output"] = {{"tokens", result.tokens},
                    {"text", result.text},
                    {"other_text", result.other_text},
                    {"agreeing_tokens", result.agreeing_tokens},
                    {"token_agreement", agreement_of(result)},
                    {"first_divergence", parts ? Json(result.agreeing_tokens) : Json()},
                    {"other_text_ended", result.other_ended}};
  if (result.logits_unavailable.empty()) {
    json["logits"] = {{"cosine", number_or_null(result.cosine)},
                      {"max_abs_error", number_or_null(result.max_error)},
                      {"same_top_token", result.same_top_token},
                      {"same_prompt_ids", result.same_prompt_ids}};
  } else {
    json["logits"] = {{"unavailable", result.logits_unavailable}};
  }
  if (!result.engine_failed.empty()) json["engine_failed"] = result.engine_failed;
  if (!result.speed_unavailable.empty()) json["speed_unavailable"] = result.speed_unavailable;
  return json;
}

std::string figure_text(const Figure& figure) {
  const auto side = [](const std::vector<double>& values) {
    const auto sample = stats::Sample::from(values);
    return sample ? fmt::format("{:.4g} ({:.4g}-{:.4g})", stats::median(*sample), sample->min(),
                                sample->max())
                  : std::string("unavailable");
  };
  const auto ratios = stats::Sample::from(ratios_of(figure));
  return fmt::format("  {:<28} {:<28} {:<28} {}\n", figure.name, side(figure.ours),
                     side(figure.theirs),
                     ratios ? fmt::format("{:.3g}x ({:.3g}-{:.3g})", stats::median(*ratios),
                                          ratios->min(), ratios->max())
                            : "-");
}

std::string to_text(const CrossvalResult& result) {
  auto text = fmt::format("beside {}\n  {} of {} tokens agree", result.engine,
                          result.agreeing_tokens, result.tokens.size());
  if (result.other_ended) {
    text += "; nothing differs, the other engine's output ends there";
  } else if (result.agreeing_tokens < result.tokens.size()) {
    text += fmt::format("; the first that differs is number {}", result.agreeing_tokens + 1);
  }
  text += result.logits_unavailable.empty()
              ? fmt::format(
                    "\n  logits after the prompt: cosine {:.6f}, largest difference {:.3g}, "
                    "{} top token, {} prompt ids\n",
                    result.cosine, result.max_error, result.same_top_token ? "same" : "another",
                    result.same_prompt_ids ? "same" : "other")
              : fmt::format("\n  logits: unavailable: {}\n", printable(result.logits_unavailable));
  text += fmt::format("  {:<28} {:<28} {:<28} {}\n", "", "ours", "theirs", "ratio");
  for (const auto& figure : figures_of(result)) text += figure_text(figure);
  if (!result.speed_unavailable.empty())
    text += fmt::format("  their speed: unavailable: {}\n", printable(result.speed_unavailable));
  return text;
}

bool passes(const CrossvalResult& result, const Gates& gates) {
  const bool logits_pass =
      gates.cosine == 0 || (result.logits_unavailable.empty() && result.cosine >= gates.cosine);
  return agreement_of(result) >= gates.agreement && logits_pass;
}

}  // namespace

int run_crossval(const Arguments& arguments) {
  CLI::App app("Runs a model through another engine and through ours, and compares", "crossval");
  CrossvalPlan plan;
  Gates gates;
  std::string timeout = "300";
  std::string engine;
  std::string output = "benchmark-results";
  bool json = false;
  add_model_options(app, plan.model);
  app.add_option("--engine", engine,
                 "llama.cpp's llama-completion or llama-cli, a relative's, or their folder")
      ->required();
  app.add_option("-p,--prompt", plan.prompt, "the text to continue");
  app.add_option("-n,--tokens", plan.tokens, "to generate (default: 32)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--prompt-tokens", plan.prompt_tokens, "of the speed measurement (default: 128)")
      ->check(CLI::Range(1, 65536));
  app.add_option("--iterations", plan.iterations, "runs of each side, in turns (default: 3)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--timeout", timeout, "of each run (default: 300s)")->check(duration_value());
  app.add_option("--least-agreement", gates.agreement, "fail below this share of equal tokens")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--least-cosine", gates.cosine, "fail below this cosine of the logits")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--output", output, "folder of comparison-results.json and system-info.json");
  app.add_flag("--json", json, "print comparison-results.json instead of a table");
  if (const auto over = parse(app, arguments)) return *over;
  plan.engine = engine;
  plan.timeout = parse_duration(timeout).value();
  if (const auto ready = check_writable(Path(output) / "comparison-results.json"); !ready)
    return report_error(ready.error());
  const auto result = cross_validate(plan);
  if (!result) return report_error(result.error());
  const auto comparison = json_document(to_json(*result, plan));
  for (const auto& [name, text] :
       {std::pair("comparison-results.json", comparison),
        {"system-info.json", json_document(to_json(read_environment()))}}) {
    if (const auto written = write_file_atomically(Path(output) / name, text); !written)
      return report_error(written.error());
  }
  if (!result->engine_failed.empty()) {
    fmt::print(stderr, "trilobite: {}\n", result->engine_failed);
    return kGateSaidNo;
  }
  if (const auto printed = print(json ? comparison : to_text(*result)); !printed)
    return report_error(printed.error());
  return passes(*result, gates) ? kFine : kGateSaidNo;
}

}  // namespace trilobite::cli
