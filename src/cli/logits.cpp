#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/matrix_output.hpp"
#include "cli/model_options.hpp"
#include "cli/subcommands.hpp"
#include "model/batch_builder.hpp"
#include "model/reference_model.hpp"

namespace trilobite::cli {
namespace {

/// Which of `count` positions are wanted: "all", "last" or a list.
Result<std::vector<size_t>> parse_positions(const std::string& text, size_t count) {
  std::vector<size_t> positions;
  if (text == "last") return std::vector<size_t>{count - 1};
  if (text == "all") {
    for (size_t i = 0; i < count; ++i) positions.push_back(i);
    return positions;
  }
  const auto numbers = parse_ids(text);
  if (!numbers) return fail(fmt::format("--positions {}: all, last or numbers such as 0,5", text));
  for (const int32_t number : *numbers) {
    if (static_cast<size_t>(number) >= count)
      return fail(fmt::format("--positions: there is no position {} in {} tokens", number, count));
    positions.push_back(static_cast<size_t>(number));
  }
  return positions;
}

struct Logits {
  std::vector<float> rows;
  size_t columns = 0;
};

Result<Logits> on_reference(const ModelOptions& options, std::span<const int32_t> ids,
                            std::span<const size_t> positions) {
  const auto file = gguf::GgufFile::open(options.file);
  if (!file) return fail_from(file);
  const auto engine = engine_options(options);
  if (!engine) return fail_from(engine);
  const auto reference = model::ReferenceModel::load(
      file->contents(), {.i2s_layout = engine->weights.i2s_layout, .gelu_erf = engine->gelu_erf});
  if (!reference) return fail_from(reference, options.file);
  const auto& config = reference->config();
  if (!config.is_causal)
    return fail(fmt::format("a {} model gives embeddings, no logits", config.architecture_name));
  if (auto known = model::check_ids(ids, config.vocabulary); !known) return fail_from(known);
  if (ids.size() > config.context)
    return fail(fmt::format("{} tokens do not fit in a context of {}", ids.size(), config.context));
  const auto hidden = reference->hidden(ids);
  Logits logits{.columns = config.vocabulary};
  for (const size_t position : positions) {
    const auto row = reference->logits(hidden, position);
    logits.rows.insert(logits.rows.end(), row.begin(), row.end());
  }
  return logits;
}

Result<Logits> on_cpu(const ModelOptions& options, std::span<const int32_t> ids,
                      std::span<const size_t> positions) {
  auto engine = load_engine(options);
  if (!engine) return fail_from(engine);
  Logits logits{.columns = engine->config().vocabulary};
  logits.rows.resize(positions.size() * logits.columns);
  const auto done = engine->feed_each({0, ids}, [&](size_t index, std::span<const float> row) {
    for (size_t i = 0; i < positions.size(); ++i) {
      if (positions[i] == index)
        std::ranges::copy(row, logits.rows.begin() + static_cast<ptrdiff_t>(i * row.size()));
    }
  });
  if (!done) return fail_from(done);
  return logits;
}

}  // namespace

int run_logits(const Arguments& arguments) {
  CLI::App app("Writes the logits of a sequence of token ids", "logits");
  ModelOptions options;
  std::string ids_text;
  std::string positions_text = "last";
  std::string device = "cpu";
  std::string output;
  add_model_options(app, options);
  app.add_option("--ids", ids_text, "token ids, 1,2,3")->required();
  app.add_option("--positions", positions_text, "all, last, or numbers such as 0,5");
  app.add_option("--device", device, "reference: slow and exact; cpu: as generate computes")
      ->check(CLI::IsMember({"reference", "cpu"}));
  app.add_option("--output", output, "FILE.bin (little-endian f32, rows in order) or FILE.json")
      ->required();
  if (const auto over = parse(app, arguments)) return *over;
  if (const auto possible = check_matrix_path(output); !possible)
    return report_error(possible.error());
  const auto ids = parse_ids(ids_text);
  if (!ids) return report_error(ids.error());
  const auto positions = parse_positions(positions_text, ids->size());
  if (!positions) return report_error(positions.error());
  const auto logits = device == "reference" ? on_reference(options, *ids, *positions)
                                            : on_cpu(options, *ids, *positions);
  if (!logits) return report_error(logits.error());
  Json facts{{"model", options.file}, {"device", device}, {"ids", *ids}};
  facts["positions"] = *positions;
  warn_unless_finite(logits->rows);
  const auto written = write_matrix(output, logits->rows, logits->columns, facts);
  return written ? kFine : report_error(written.error());
}

}  // namespace trilobite::cli
