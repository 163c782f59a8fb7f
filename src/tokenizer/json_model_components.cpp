// Models of tokenizer.json.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tokenizer/building.hpp"
#include "tokenizer/json_components.hpp"
#include "tokenizer/unigram_model.hpp"

namespace trilobite {
namespace {

void expect(const Result<void>& result) {
  if (!result) throw JsonProblem(result.error().message());
}

void expect_absent(const LargeJson& model, const char* name) {
  const auto& value = member(model, name);
  const bool is_absent = value.is_null() || value == "" || value == 0;
  if (!is_absent) not_supported("the BPE setting", fmt::format("{} = {}", name, value.dump()));
}

std::optional<TokenId> find_token(const Tokenizer::Parts& parts, const LargeJson& name) {
  if (!name.is_string()) return std::nullopt;
  return parts.vocabulary.find_any(name.get<std::string>());
}

/// Merges are "left right" or ["left", "right"].
MergeTable read_merges(const LargeJson& merges, bool byte_level, const Vocabulary& vocabulary) {
  MergeListBuilder builder(vocabulary, merges.size(), byte_level);
  for (const auto& merge : merges) {
    if (merge.is_string()) {
      builder.add_line(merge.get_ref<const std::string&>());
    } else {
      builder.add_pair(merge.at(0).get_ref<const std::string&>(),
                       merge.at(1).get_ref<const std::string&>());
    }
  }
  auto table = builder.finish();
  if (!table) throw JsonProblem(table.error().message());
  return *std::move(table);
}

void finish_bpe(const LargeJson& model, bool byte_level, Tokenizer::Parts& parts) {
  for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    expect_absent(model, name);
  auto merges = read_merges(model.at("merges"), byte_level, parts.vocabulary);
  const bool whole_words_first = model.value("ignore_merges", false);
  if (byte_level) return set_byte_level_model(parts, std::move(merges), whole_words_first);
  parts.kind = "BPE";
  UnknownPolicy unknown{.unk = parts.special.unk.value_or(-1),
                        .fuse = model.value("fuse_unk", false)};
  if (model.value("byte_fallback", false)) unknown.byte_tokens = parts.vocabulary.byte_tokens();
  if (parts.splits.empty() && !whole_words_first)
    parts.splits.emplace_back(SpaceCuts(parts.vocabulary));
  parts.model = std::make_unique<BpeModel>(
      BpeModel::Definition{.vocabulary = &parts.vocabulary,
                           .symbols = SymbolTable::of_characters(parts.vocabulary),
                           .merges = std::move(merges),
                           .unknown = std::move(unknown),
                           .whole_words_first = whole_words_first});
}

void finish_unigram(const LargeJson& model, Tokenizer::Parts& parts) {
  parts.kind = "Unigram";
  UnigramModel::Definition definition;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& entry : model.at("vocab")) {
    const double score = entry.at(1).get<double>();
    const auto id = static_cast<TokenId>(definition.scores.size());
    definition.scores.push_back(score);
    least = std::min(least, score);
    if (parts.vocabulary.kind(id) != TokenKind::control && parts.special.unk != id)
      definition.pieces.emplace_back(parts.vocabulary.piece(id), id);
  }
  constexpr double kUnknownPenalty = 10;
  definition.unk_score = least - kUnknownPenalty;
  definition.unknown.unk = parts.special.unk.value_or(-1);
  if (model.value("byte_fallback", false))
    definition.unknown.byte_tokens = parts.vocabulary.byte_tokens();
  parts.model = std::make_unique<UnigramModel>(std::move(definition));
}

void finish_wordpiece(const LargeJson& model, Tokenizer::Parts& parts) {
  const auto prefix = model.value("continuing_subword_prefix", std::string("##"));
  set_wordpiece_model(parts, {.continuation = prefix,
                              .most_characters = model.value("max_input_chars_per_word", 100u)});
}

/// Files from before the type was written have no other sign than their members.
std::string model_type(const LargeJson& model) {
  if (model.contains("type")) return type_of(model);
  if (model.contains("merges")) return "BPE";
  return model.contains("unk_id") ? "Unigram" : "WordPiece";
}

}  // namespace

void read_vocabulary(const LargeJson& model, bool byte_level, Tokenizer::Parts& parts) {
  const auto type = model_type(model);
  const auto& vocabulary = model.at("vocab");
  if (type == "Unigram") {
    if (vocabulary.size() > static_cast<size_t>(kMostTokens))
      throw JsonProblem("the vocabulary is too large");
    for (const auto& entry : vocabulary) {
      parts.vocabulary.add(entry.at(0).get_ref<const std::string&>(), TokenKind::normal,
                           entry.at(1).get<float>());
    }
    parts.vocabulary.build_index();
    if (const auto& unk = member(model, "unk_id"); !unk.is_null()) {
      const auto id = unk.get<int64_t>();
      if (id < 0 || id >= static_cast<int64_t>(vocabulary.size()))
        throw JsonProblem("the unk_id is outside the vocabulary");
      parts.special.unk = static_cast<TokenId>(id);
    }
  } else if (type == "BPE" || type == "WordPiece") {
    expect(read_vocabulary_object(vocabulary, byte_level, parts.vocabulary));
    parts.special.unk = find_token(parts, member(model, "unk_token"));
  } else {
    not_supported("the model", type);
  }
}

void finish_model(const LargeJson& model, bool byte_level, Tokenizer::Parts& parts) {
  const auto type = model_type(model);
  if (type == "BPE") return finish_bpe(model, byte_level, parts);
  if (type == "Unigram") return finish_unigram(model, parts);
  finish_wordpiece(model, parts);
}

}  // namespace trilobite
