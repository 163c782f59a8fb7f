// SentencePiece's .model files: a protocol buffer with the pieces, how they were trained and how
// text is normalised.

#include <fmt/format.h>

#include "tokenizer/building.hpp"
#include "tokenizer/loaders.hpp"
#include "tokenizer/protobuf_reader.hpp"

namespace trilobite {
namespace {

// Numbers of fields and values in sentencepiece_model.proto.
constexpr uint32_t kModelPieces = 1;
constexpr uint32_t kModelTrainer = 2;
constexpr uint32_t kModelNormalizer = 3;
constexpr uint64_t kUnigram = 1;
constexpr uint64_t kBpe = 2;

struct Trainer {
  uint64_t model_type = kUnigram;
  bool byte_fallback = false;
  bool whitespace_is_suffix = false;
  std::string_view bos = "<s>";
  std::string_view eos = "</s>";
  std::string_view pad = "<pad>";
  std::string_view unk_surface = " \xE2\x81\x87 ";
};

Trainer read_trainer(std::string_view message) {
  Trainer trainer;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 3) trainer.model_type = field->integer;
    if (field->number == 24) trainer.whitespace_is_suffix = field->integer != 0;
    if (field->number == 35) trainer.byte_fallback = field->integer != 0;
    if (field->number == 44) trainer.unk_surface = field->bytes;
    if (field->number == 46) trainer.bos = field->bytes;
    if (field->number == 47) trainer.eos = field->bytes;
    if (field->number == 48) trainer.pad = field->bytes;
  }
  return trainer;
}

Result<SentencePieceRules> read_rules(std::string_view message) {
  SentencePieceRules rules;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 2) {
      auto map = Charsmap::parse(field->bytes);
      if (!map) return fail_from(map);
      rules.rules = *std::move(map);
    }
    if (field->number == 3) rules.add_dummy_prefix = field->integer != 0;
    if (field->number == 4) rules.remove_extra_whitespaces = field->integer != 0;
    if (field->number == 5) rules.escape_whitespaces = field->integer != 0;
  }
  if (!reader.is_sound()) return fail("the normaliser's settings are malformed");
  return rules;
}

Result<void> add_piece(std::string_view message, Vocabulary& vocabulary) {
  std::string_view piece;
  float score = 0;
  uint64_t type = 1;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) piece = field->bytes;
    if (field->number == 2) score = field->as_float();
    if (field->number == 3) type = field->integer;
  }
  if (!reader.is_sound() || type < 1 || type > 6 || piece.empty())
    return fail(fmt::format("piece {} is malformed", vocabulary.size()));
  vocabulary.add(piece, static_cast<TokenKind>(type), score);
  return {};
}

/// As the library does: a piece may be there once, and there is one unknown piece.
Result<void> check(Tokenizer::Parts& parts) {
  auto& vocabulary = parts.vocabulary;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto found = vocabulary.find(vocabulary.piece(id));
    const auto kind = vocabulary.kind(id);
    const bool is_text =
        kind == TokenKind::normal || kind == TokenKind::user_defined || kind == TokenKind::unused;
    if (is_text && found != id)
      return fail(fmt::format("the piece '{}' is there twice", vocabulary.piece(id)));
    if (kind != TokenKind::unknown) continue;
    if (parts.special.unk) return fail("there are two unknown pieces");
    parts.special.unk = id;
  }
  if (!parts.special.unk) return fail("there is no unknown piece");
  return {};
}

Result<TokenizerParts> build(TokenizerParts parts, const Trainer& trainer,
                             SentencePieceRules rules) {
  if (auto sound = check(*parts); !sound) return fail_from(sound);
  parts->special.bos = find_control(parts->vocabulary, trainer.bos);
  parts->special.eos = find_control(parts->vocabulary, trainer.eos);
  parts->special.pad = find_control(parts->vocabulary, trainer.pad);
  rules.prefix_is_suffix = trainer.whitespace_is_suffix;
  SentencePieceOptions options{.byte_fallback = trainer.byte_fallback, .rules = std::move(rules)};
  if (trainer.model_type == kBpe) {
    if (auto set = set_sentencepiece_bpe(*parts, std::move(options)); !set) return fail_from(set);
  } else if (trainer.model_type == kUnigram) {
    set_sentencepiece_unigram(*parts, std::move(options));
  } else {
    return fail("it is a word or character model, which is not supported (BPE and Unigram are)");
  }
  parts->decoder.unk_text = trainer.unk_surface;
  add_control_tokens(*parts, false);
  find_end_of_generation(*parts);
  return parts;
}

}  // namespace

Result<TokenizerParts> tokenizer_from_sentencepiece(std::string_view bytes) {
  auto parts = std::make_unique<Tokenizer::Parts>();
  Trainer trainer;
  SentencePieceRules rules;
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == kModelPieces) {
      if (auto added = add_piece(field->bytes, parts->vocabulary); !added) return fail_from(added);
    } else if (field->number == kModelTrainer) {
      trainer = read_trainer(field->bytes);
    } else if (field->number == kModelNormalizer) {
      auto read = read_rules(field->bytes);
      if (!read) return fail_from(read);
      rules = *std::move(read);
    }
  }
  if (!reader.is_sound()) return fail("the SentencePiece model is malformed or incomplete");
  if (parts->vocabulary.size() == 0) return fail("the SentencePiece model has no pieces");
  parts->vocabulary.build_index();
  return build(std::move(parts), trainer, std::move(rules));
}

}  // namespace trilobite
