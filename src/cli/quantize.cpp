#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/thread_pool.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_options.hpp"
#include "cli/subcommands.hpp"
#include "cli/tensor_type_flag.hpp"
#include "modelfile/quantize_model.hpp"
#include "quant/mixed_precision.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"

namespace trilobite::cli {
namespace {

using modelfile::QuantizeReport;
using modelfile::TypeOutcome;

Row row_of(gguf::TensorType type, const TypeOutcome& outcome) {
  Row row{{std::string(gguf::name_of(type))},
          {std::to_string(outcome.tensors)},
          {human_bytes(static_cast<double>(outcome.bytes_before))},
          {human_bytes(static_cast<double>(outcome.bytes_after))}};
  if (outcome.converted == 0) {
    row.insert(row.end(), {{"taken over"}, {"-"}, {"-"}});
    return row;
  }
  const auto errors = outcome.errors.measures();
  row.insert(row.end(), {{fmt::format("{:.2f} dB", errors.snr_db)},
                         {fmt::format("{:.6f}", errors.cosine)},
                         {fmt::format("{:.3g}", errors.max_abs_error)}});
  return row;
}

std::string to_text(const QuantizeReport& report, const std::string& output) {
  Table table{.columns = {{"type", true},
                          {"tensors"},
                          {"before"},
                          {"after"},
                          {"SNR"},
                          {"cosine"},
                          {"largest error"}}};
  for (const auto& [type, outcome] : report.by_type) table.rows.push_back(row_of(type, outcome));
  auto text = render(table, 0, stdout_is_terminal());
  for (const auto& exception : report.exceptions)
    text += fmt::format("note: {}\n", printable(exception));
  return text + fmt::format("{}: {} -> {} ({} smaller)\n", output,
                            human_bytes(static_cast<double>(report.bytes_before)),
                            human_bytes(static_cast<double>(report.bytes_after)),
                            human_ratio(static_cast<double>(report.bytes_before) /
                                        static_cast<double>(report.bytes_after)));
}

std::string to_json_text(const QuantizeReport& report, const std::string& output) {
  Json types = Json::object();
  for (const auto& [type, outcome] : report.by_type) {
    Json entry{{"tensors", outcome.tensors},
               {"converted", outcome.converted},
               {"elements", outcome.elements},
               {"bytes_before", outcome.bytes_before},
               {"bytes_after", outcome.bytes_after}};
    if (outcome.converted > 0) {
      const auto errors = outcome.errors.measures();
      entry["snr_db"] = number_or_null(errors.snr_db);  // null: nothing was lost
      entry["cosine"] = number_or_null(errors.cosine);
      entry["rmse"] = number_or_null(errors.rmse);
      entry["max_abs_error"] = number_or_null(errors.max_abs_error);
    }
    types[std::string(gguf::name_of(type))] = entry;
  }
  return json_document({{"output", output},
                        {"bytes_before", report.bytes_before},
                        {"bytes_after", report.bytes_after},
                        {"types", types},
                        {"exceptions", report.exceptions}});
}

Result<void> check_different(const Path& input, const Path& output) {
  std::error_code ignored;
  if (input == output || std::filesystem::equivalent(input, output, ignored))
    return fail("the output is the input; give it another name");
  return {};
}

void show_progress(std::string_view tensor, size_t number, size_t count) {
  fmt::print(stderr, "\r\033[K{}/{} {}", number + 1, count, printable(tensor));
  if (number + 1 == count) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

/// The type of GGUF files that stores what a scheme of quant/scheme.hpp does.
Result<gguf::TensorType> stored_type(const quant::Scheme& scheme) {
  auto type = modelfile::parse_tensor_type(scheme.name == "fp32"   ? "f32"
                                           : scheme.name == "fp16" ? "f16"
                                                                   : scheme.name);
  if (type) return type;
  return fail(fmt::format("GGUF files have no type for the scheme {}", scheme.name));
}

/// A plan whose every scheme a file can hold.
Result<quant::PrecisionPlan> read_plan(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  const auto json = parse_json(*text);
  if (!json) return fail_from(json, path);
  auto plan = quant::precision_plan_from_json(*json);
  if (!plan) return fail_from(plan, path);
  if (const auto type = stored_type(plan->otherwise); !type) return fail_from(type, path);
  for (const auto& rule : plan->rules) {
    if (const auto type = stored_type(rule.scheme); !type) return fail_from(type, path);
  }
  return plan;
}

struct QuantizeFlags {
  std::string input;
  std::string output;
  std::string plan;
  std::string i2s_layout = "guess";
  TensorTypeFlag type;
  TensorTypeFlag head;
  TensorTypeFlag embedding;
  bool json = false;
};

void add_flags(CLI::App& app, QuantizeFlags& flags) {
  app.add_option("INPUT", flags.input, "a GGUF file")->required();
  app.add_option("OUTPUT", flags.output, "where the new one goes")->required();
  flags.type.add_to(app, "--type", "of the linear layers");
  flags.head.add_to(app, "--head",
                    "of the output head (default: Q6_K where --type has 4 bits or fewer)");
  flags.embedding.add_to(app, "--embedding",
                         "of the token embedding (default: Q6_K where --type is ternary)");
  app.add_option("--plan", flags.plan,
                 "a JSON file that gives each tensor its scheme (instead of the types)")
      ->excludes("--type")
      ->excludes("--head")
      ->excludes("--embedding");
  app.add_option("--i2s-layout", flags.i2s_layout,
                 "order of the codes in I2_S tensors of the input")
      ->check(CLI::IsMember(kI2sLayoutNames));
  app.add_flag("--json", flags.json, "the report as JSON");
}

Result<modelfile::QuantizeRequest> request_of(const QuantizeFlags& flags) {
  modelfile::QuantizeRequest request{.head = flags.head.value(),
                                     .embedding = flags.embedding.value()};
  request.i2s_layout = parse_i2s_layout(flags.i2s_layout);
  if (stderr_is_terminal()) request.progress = show_progress;
  if (flags.plan.empty()) {
    if (!flags.type.value()) return fail("--type or --plan is required");
    request.type = *flags.type.value();
    return request;
  }
  auto plan = read_plan(flags.plan);
  if (!plan) return fail_from(plan);
  request.type = stored_type(plan->otherwise).value();
  request.planned = [plan = *std::move(plan)](std::string_view name) {
    return stored_type(quant::scheme_for(plan, name)).value();
  };
  return request;
}

}  // namespace

int run_quantize(const Arguments& arguments) {
  CLI::App app("Writes a GGUF model in other tensor types and says what that costs", "quantize");
  QuantizeFlags flags;
  add_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto request = request_of(flags);
  if (!request) return report_error(request.error());
  if (const auto different = check_different(flags.input, flags.output); !different)
    return report_error(different.error());
  const auto source = gguf::GgufFile::open(flags.input);
  if (!source) return report_error(source.error());
  ThreadPool pool(usable_cpus());
  const auto report = modelfile::quantize_model(*source, *request, flags.output, pool);
  if (!report) return report_error(report.error());
  const auto printed =
      print(flags.json ? to_json_text(*report, flags.output) : to_text(*report, flags.output));
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
