#pragma once
// Normalisers: what is done to text before it is cut into words. A tokenizer has a list of steps,
// each a plain struct; docs/tokenizers.md says what each does.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tokenizer/aligned_text.hpp"
#include "tokenizer/charsmap.hpp"
#include "tokenizer/prefix_matcher.hpp"
#include "tokenizer/unicode_forms.hpp"

namespace trilobite {

/// Each character by itself, as Rust's char::to_lowercase.
struct Lowercase {};
/// Drops all marks (general category M).
struct StripAccents {};
/// White space at the ends.
struct StripSpace {
  bool left = true;
  bool right = true;
};
struct ReplaceText {
  std::string from;  // not empty
  std::string to;
};
/// Two or more blanks in a row become one `to`.
struct ReplaceSpaceRuns {
  std::string to;
};
/// Before every text that is not empty.
struct PrependText {
  std::string text;
};
/// BERT's basic tokenizer up to the splitting.
struct BertClean {
  bool clean_text = true;     // drop control characters, every white space becomes a blank
  bool separate_cjk = true;   // blanks around ideographs
  bool strip_accents = true;  // canonical decomposition without nonspacing marks
  bool lowercase = true;
};
/// As Hugging Face applies SentencePiece's rules: cluster by cluster, then character by character.
struct PrecompiledClusters {
  Charsmap rules;
};
/// As SentencePiece itself does it.
struct SentencePieceRules {
  Charsmap rules;
  PrefixMatcher user_defined;  // never changed
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool prefix_is_suffix = false;
};
/// Blanks become the marker, and one is put in front.
struct Metaspace {
  enum class Prepend { never, first_only, always };
  std::string marker = "\xE2\x96\x81";
  Prepend prepend = Prepend::always;
  bool each_word = false;  // words are found by white space, which is dropped
};
/// A blank in front of a text that does not begin with one.
struct PrefixSpace {};

using NormalizeStep = std::variant<UnicodeForm, Lowercase, StripAccents, StripSpace, ReplaceText,
                                   ReplaceSpaceRuns, PrependText, BertClean, PrecompiledClusters,
                                   SentencePieceRules, Metaspace, PrefixSpace>;

/// Two buffers to go to and fro between.
struct NormalizeBuffers {
  AlignedText text[2];
};

/// The text after all steps; points into `buffers`, or is `text` itself when there are none. Bytes
/// that are not UTF-8 become U+FFFD or stay, as the steps do it.
AlignedView normalize(const std::vector<NormalizeStep>& steps, AlignedView text, bool with_origins,
                      NormalizeBuffers& buffers);

// The larger steps, each in its own file.
void apply(const BertClean& step, const AlignedView& in, AlignedText& out);
void apply(const PrecompiledClusters& step, const AlignedView& in, AlignedText& out);
void apply(const SentencePieceRules& step, const AlignedView& in, AlignedText& out);

}  // namespace trilobite
