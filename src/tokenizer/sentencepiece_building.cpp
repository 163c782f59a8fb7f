// The parts of a tokenizer that works as the SentencePiece library does, whatever file it is from.

#include <algorithm>
#include <cfloat>

#include "tokenizer/building.hpp"
#include "tokenizer/unigram_model.hpp"

namespace trilobite {
namespace {

UnknownPolicy unknown_policy(const Tokenizer::Parts& parts, const SentencePieceOptions& options) {
  UnknownPolicy policy{.unk = parts.special.unk.value_or(-1)};
  if (options.byte_fallback) policy.byte_tokens = parts.vocabulary.byte_tokens();
  return policy;
}

/// User-defined pieces are kept from the normaliser and from merging alike.
void set_rules(Tokenizer::Parts& parts, SentencePieceOptions& options) {
  for (size_t i = 0; i < parts.vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (parts.vocabulary.kind(id) == TokenKind::user_defined)
      options.rules.user_defined.add(parts.vocabulary.piece(id), id);
  }
  using Leading = DecoderRules::Leading;
  parts.decoder = {.joining = DecoderRules::Joining::marked_words,
                   .leading = options.rules.remove_extra_whitespaces ? Leading::all_dropped
                              : options.rules.add_dummy_prefix       ? Leading::first_dropped
                                                                     : Leading::kept,
                   .byte_tokens = options.byte_fallback,
                   .unk_text = " \xE2\x81\x87 "};
  parts.normalizer.emplace_back(std::move(options.rules));
}

}  // namespace

Result<void> set_sentencepiece_bpe(Tokenizer::Parts& parts, SentencePieceOptions options) {
  parts.kind = "SentencePiece BPE";
  auto symbols = SymbolTable::of_characters(parts.vocabulary);
  auto merges = merges_by_score(parts.vocabulary, symbols);
  if (!merges) return fail_from(merges);
  auto unknown = unknown_policy(parts, options);
  set_rules(parts, options);
  for (size_t i = 0; i < parts.vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (parts.vocabulary.kind(id) == TokenKind::user_defined) {
      parts.added_after_normalizing.add(
          {.content = std::string(parts.vocabulary.piece(id)), .id = id});
    }
  }
  parts.splits.emplace_back(SpaceCuts(parts.vocabulary));
  parts.model = std::make_unique<BpeModel>(BpeModel::Definition{.vocabulary = &parts.vocabulary,
                                                                .symbols = std::move(symbols),
                                                                .merges = *std::move(merges),
                                                                .unknown = std::move(unknown)});
  return {};
}

void set_sentencepiece_unigram(Tokenizer::Parts& parts, SentencePieceOptions options) {
  parts.kind = "Unigram";
  const auto& vocabulary = parts.vocabulary;
  UnigramModel::Definition definition{.single_precision = true};
  // The library starts its search for the largest score at the smallest positive number.
  float least = FLT_MAX;
  float most = FLT_MIN;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (vocabulary.kind(id) != TokenKind::normal) continue;
    least = std::min(least, vocabulary.score(id));
    most = std::max(most, vocabulary.score(id));
  }
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto piece = vocabulary.piece(id);
    const auto kind = vocabulary.kind(id);
    // User-defined pieces get a score that always wins.
    definition.scores.push_back(kind == TokenKind::user_defined
                                    ? static_cast<float>(piece.size()) * most - 0.1
                                    : static_cast<double>(vocabulary.score(id)));
    if (kind == TokenKind::normal || kind == TokenKind::user_defined)
      definition.pieces.emplace_back(piece, id);
  }
  constexpr float kUnknownPenalty = 10;
  definition.unk_score = static_cast<double>(least - kUnknownPenalty);
  definition.unknown = unknown_policy(parts, options);
  set_rules(parts, options);
  parts.model = std::make_unique<UnigramModel>(std::move(definition));
  parts.caches_words = false;  // sums in single precision depend on what came before
}

}  // namespace trilobite
