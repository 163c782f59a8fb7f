#pragma once
// Where pre-tokenisers cut text into words. Each rule is a small machine over UTF-8 that does what
// the regular expression in its comment does in the original, without a regular-expression engine.

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/space_cuts.hpp"

namespace trilobite {

/// Receives the pieces of a text in order.
class PieceConsumer {
 public:
  virtual ~PieceConsumer() = default;
  virtual void piece(size_t begin, size_t end) = 0;
};

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
struct Gpt2Words {};
/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
/// \s*[\r\n]+|\s+(?!\S)|\s+
struct Llama3Words {
  size_t most_digits = 3;  // Qwen-2: \p{N} instead of \p{N}{1,3}
};
/// BERT: white space separates, punctuation stands alone.
struct BertWords {};
/// White space separates.
struct SpaceSeparated {};
/// \w+|[^\w\s]+
struct WordsAndSymbols {};
/// Punctuation characters stand alone.
struct IsolatedPunctuation {};
/// Runs of digits stand apart; each digit if `individual`.
struct IsolatedDigits {
  bool individual = false;
};
/// A new piece before every marker ("▁").
struct BeforeMarker {
  std::string marker;
};

using SplitRule = std::variant<Gpt2Words, Llama3Words, BertWords, SpaceSeparated, WordsAndSymbols,
                               IsolatedPunctuation, IsolatedDigits, BeforeMarker, SpaceCuts>;

/// Gives the pieces of `text` to `consumer`; white space that a rule drops is in none of them.
void split(const SplitRule& rule, std::string_view text, PieceConsumer& consumer);
/// Each rule cuts the pieces of the one before. No rules: the text is one piece.
void split(const std::vector<SplitRule>& rules, std::string_view text, PieceConsumer& consumer);

}  // namespace trilobite
