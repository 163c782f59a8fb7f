#pragma once
// Decoding: how the pieces of tokens join to text.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trilobite/tokenizer.hpp"

namespace trilobite {

struct DecoderRules {
  enum class Joining {
    bytes,         // pieces are the text's bytes
    marked_words,  // a marker in the piece is a blank
    wordpiece,     // pieces without the prefix begin a new word
    spaced,        // a blank between any two
  };
  Joining joining = Joining::bytes;
  std::string marker = "\xE2\x96\x81";
  /// Of marked words: how many markers at the very beginning stand for no blank.
  enum class Leading { kept, first_dropped, all_dropped } leading = Leading::kept;
  bool byte_tokens = false;  // "<0x0A>" is that byte
  std::string unk_text;      // what the unknown token reads as; empty: its piece
  std::string prefix = "##";
  bool cleanup = false;  // no blank before punctuation, contractions joined
};

/// Appends the text of one token. `is_first`: nothing has been written before it.
void append_decoded(const DecoderRules& rules, std::string_view piece, bool is_first,
                    std::string& out);

/// Appends with U+FFFD for whatever is not UTF-8: one for each byte, or one for each beginning of a
/// character that was broken off.
void append_valid_utf8(std::string_view bytes, bool each_byte, std::string& out);

}  // namespace trilobite
