#include <fmt/format.h>

#include <cmath>

#include "cli/exit_code.hpp"
#include "cli/matrix_output.hpp"
#include "cli/model_options.hpp"
#include "cli/subcommands.hpp"
#include "model/batch_builder.hpp"
#include "model/reference_model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

struct EmbedFlags {
  ModelOptions model;
  std::string ids;
  std::vector<std::string> texts;
  std::string pooling;
  std::string device = "cpu";
  std::string output;
  bool normalize = false;
};

void add_flags(CLI::App& app, EmbedFlags& flags) {
  add_model_options(app, flags.model);
  app.add_option("TEXT", flags.texts, "texts to embed");
  app.add_option("--ids", flags.ids, "one text as token ids, 1,2,3 (instead of TEXT)");
  app.add_option("--pooling", flags.pooling, "none, mean or cls (default: what the model says)")
      ->check(CLI::IsMember({"none", "mean", "cls"}));
  app.add_option("--device", flags.device, "reference: slow and exact; cpu: fast")
      ->check(CLI::IsMember({"reference", "cpu"}));
  app.add_flag("--normalize", flags.normalize, "make every vector one unit long");
  app.add_option("--output", flags.output,
                 "FILE.bin (little-endian f32, rows in order) or FILE.json (default: JSON on "
                 "standard output)");
}

Result<std::vector<std::vector<int32_t>>> texts_as_ids(const EmbedFlags& flags,
                                                       const gguf::Gguf& file) {
  if (!flags.ids.empty()) {
    if (!flags.texts.empty()) return fail("give either TEXT or --ids, not both");
    const auto ids = parse_ids(flags.ids);
    if (!ids) return fail_from(ids);
    return std::vector<std::vector<int32_t>>{*ids};
  }
  if (flags.texts.empty()) return fail("there is nothing to embed; give a TEXT or --ids");
  const auto tokenizer = load_tokenizer(file);
  if (!tokenizer) return fail_from(tokenizer);
  std::vector<std::vector<int32_t>> all;
  for (const auto& text : flags.texts) all.push_back(tokenizer->encode(text));
  return all;
}

void normalize_rows(std::vector<float>& values, size_t columns) {
  for (size_t start = 0; start < values.size(); start += columns) {
    double squares = 0;
    for (size_t i = 0; i < columns; ++i)
      squares += static_cast<double>(values[start + i]) * static_cast<double>(values[start + i]);
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (size_t i = 0; i < columns; ++i)
      values[start + i] = static_cast<float>(static_cast<double>(values[start + i]) * scale);
  }
}

/// The reference's hidden states of one text, pooled.
void append_pooled(std::span<const double> hidden, size_t width, model::Pooling pooling,
                   std::vector<float>& to) {
  const size_t tokens = hidden.size() / width;
  const size_t kept = pooling == model::Pooling::none ? tokens : 1;
  for (size_t i = 0; i < kept * width; ++i) {
    double value = hidden[i];
    if (pooling == model::Pooling::mean) {
      value = 0;
      for (size_t t = 0; t < tokens; ++t)
        value += hidden[t * width + i] / static_cast<double>(tokens);
    }
    to.push_back(static_cast<float>(value));
  }
}

struct Embedded {
  std::vector<float> values;
  std::vector<size_t> rows_per_text;
  size_t width = 0;
  model::Pooling pooling = model::Pooling::none;
};

/// Where each text ends in the matrix: without pooling it has a row for every token.
std::vector<size_t> rows_per_text(const std::vector<std::vector<int32_t>>& texts,
                                  model::Pooling pooling) {
  std::vector<size_t> rows;
  for (const auto& ids : texts) rows.push_back(pooling == model::Pooling::none ? ids.size() : 1);
  return rows;
}

Result<model::Pooling> chosen_pooling(const EmbedFlags& flags, const model::ModelConfig& config) {
  if (flags.pooling.empty()) return config.pooling;
  return model::parse_pooling(flags.pooling);
}

Result<Embedded> on_reference(const EmbedFlags& flags) {
  const auto file = gguf::GgufFile::open(flags.model.file);
  if (!file) return fail_from(file);
  const auto texts = texts_as_ids(flags, file->contents());
  if (!texts) return fail_from(texts);
  const auto engine = engine_options(flags.model);
  if (!engine) return fail_from(engine);
  const auto reference = model::ReferenceModel::load(
      file->contents(), {.i2s_layout = engine->weights.i2s_layout, .gelu_erf = engine->gelu_erf});
  if (!reference) return fail_from(reference, flags.model.file);
  const auto& config = reference->config();
  if (config.is_causal)
    return fail(fmt::format("a {} model gives no embeddings; bert does", config.architecture_name));
  const auto pooling = chosen_pooling(flags, config);
  if (!pooling) return fail_from(pooling);
  Embedded result{
      .rows_per_text = rows_per_text(*texts, *pooling), .width = config.width, .pooling = *pooling};
  for (const auto& ids : *texts) {
    if (auto known = model::check_ids(ids, config.vocabulary); !known) return fail_from(known);
    if (ids.empty() || ids.size() > config.context)
      return fail(
          fmt::format("a text has {} tokens; the model takes 1 to {}", ids.size(), config.context));
    append_pooled(reference->hidden(ids), config.width, *pooling, result.values);
  }
  return result;
}

Result<Embedded> on_cpu(const EmbedFlags& flags) {
  auto engine = load_engine(flags.model);
  if (!engine) return fail_from(engine);
  const auto texts = texts_as_ids(flags, engine->file().contents());
  if (!texts) return fail_from(texts);
  const auto pooling = chosen_pooling(flags, engine->config());
  if (!pooling) return fail_from(pooling);
  auto values = engine->embed(*texts, *pooling);
  if (!values) return fail_from(values);
  return Embedded{*std::move(values), rows_per_text(*texts, *pooling), engine->config().width,
                  *pooling};
}

}  // namespace

int run_embed(const Arguments& arguments) {
  CLI::App app("Turns texts into vectors with a BERT model", "embed");
  EmbedFlags flags;
  add_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  if (!flags.output.empty()) {
    if (const auto possible = check_matrix_path(flags.output); !possible)
      return report_error(possible.error());
  }
  auto embedded = flags.device == "reference" ? on_reference(flags) : on_cpu(flags);
  if (!embedded) return report_error(embedded.error());
  if (flags.normalize) normalize_rows(embedded->values, embedded->width);
  warn_unless_finite(embedded->values);
  const Json facts{{"model", flags.model.file},
                   {"device", flags.device},
                   {"pooling", model::name_of(embedded->pooling)},
                   {"normalized", flags.normalize},
                   {"rows_per_text", embedded->rows_per_text}};
  const auto done = flags.output.empty()
                        ? print(matrix_json(embedded->values, embedded->width, facts))
                        : write_matrix(flags.output, embedded->values, embedded->width, facts);
  return done ? kFine : report_error(done.error());
}

}  // namespace trilobite::cli
