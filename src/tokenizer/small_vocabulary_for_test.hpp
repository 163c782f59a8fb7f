#pragma once
// Vocabularies that tests make themselves, and text to try them on.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// A byte-level vocabulary: 256 bytes, then one piece per merge, then the special tokens.
struct SmallBpe {
  std::vector<std::string> pieces;                          // of the bytes and merges
  std::vector<std::pair<std::string, std::string>> merges;  // in order
  std::string text_of(std::string_view bytes) const;        // in GPT-2's byte alphabet
};
/// The `count` most frequent pairs of `text`, one after the other, as BPE is trained.
SmallBpe train_small_bpe(std::string_view text, size_t count);

/// The vocabulary in the form of the different sources.
struct JsonOptions {
  std::string pre_tokenizer;  // JSON
  bool merges_as_pairs = false;
  std::string added_tokens = "[]";
};
std::string to_tokenizer_json(const SmallBpe& bpe, const JsonOptions& options);
std::string to_vocab_json(const SmallBpe& bpe);
std::string to_merges_txt(const SmallBpe& bpe);

inline constexpr std::string_view kGpt2PreTokenizer =
    R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";

/// Words that rhyme with nothing, enough to train on.
std::string_view sample_text();
/// Up to `characters` characters: letters of many scripts, digits, blanks, marks, emoji, controls.
std::string random_text(Rng& rng, size_t characters);

}  // namespace trilobite
