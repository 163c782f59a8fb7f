#pragma once
// What a loader puts together: everything a Tokenizer consists of, as plain data.

#include "tokenizer/added_tokens.hpp"
#include "tokenizer/decoder.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/split_rules.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/word_model.hpp"

namespace trilobite {

/// The way of a text: added tokens are cut out, the rest is normalised; added tokens that are
/// looked for in normalised text are cut out; the rest is rewritten, split and encoded word by
/// word.
struct Tokenizer::Parts {
  std::string_view kind;
  Vocabulary vocabulary;
  SpecialTokens special;
  std::vector<TokenId> end_of_generation;
  std::vector<TokenId> prefix;
  std::vector<TokenId> suffix;

  AddedTokens added;
  std::vector<NormalizeStep> normalizer;
  AddedTokens added_after_normalizing;
  std::vector<NormalizeStep> rewriter;
  std::vector<SplitRule> splits;
  std::unique_ptr<WordModel> model;
  bool caches_words = true;  // a word's tokens do not depend on where it stands

  DecoderRules decoder;
};

using TokenizerParts = std::unique_ptr<Tokenizer::Parts>;

}  // namespace trilobite
