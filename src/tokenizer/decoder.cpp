#include "tokenizer/decoder.hpp"

#include <algorithm>

#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary.hpp"

namespace trilobite {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The replacements that Hugging Face's WordPiece decoder makes in every token, in its order.
void clean_up(std::string& token) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) replace_all(token, from, to);
}

void append_wordpiece(const DecoderRules& rules, std::string_view piece, bool is_first,
                      std::string& out) {
  std::string token;
  if (!is_first) {
    if (piece.starts_with(rules.prefix)) {
      piece.remove_prefix(rules.prefix.size());
    } else {
      token = " ";
    }
  }
  token += piece;
  if (rules.cleanup) clean_up(token);
  out += token;
}

void append_marked(const DecoderRules& rules, std::string_view piece, bool is_first,
                   std::string& out) {
  if (is_first && rules.leading != DecoderRules::Leading::kept) {
    while (piece.starts_with(rules.marker)) {
      piece.remove_prefix(rules.marker.size());
      if (rules.leading == DecoderRules::Leading::first_dropped) break;
    }
  }
  while (!piece.empty()) {
    const size_t marker = std::min(piece.find(rules.marker), piece.size());
    out += piece.substr(0, marker);
    if (marker == piece.size()) return;
    out += ' ';
    piece.remove_prefix(marker + rules.marker.size());
  }
}

/// Bytes at the front of `text`, which begins no character, that at least begin one.
size_t broken_character(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0xC2 || first > 0xF4) return 1;
  const size_t length = utf8::length_by_first_byte(text[0]);
  const auto second = text.size() > 1 ? static_cast<uint8_t>(text[1]) : uint8_t{0};
  const uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 1;
  size_t count = 2;
  while (count < std::min(length, text.size()) &&
         (static_cast<uint8_t>(text[count]) & 0xC0) == 0x80)
    ++count;
  return count;
}

}  // namespace

void append_decoded(const DecoderRules& rules, std::string_view piece, bool is_first,
                    std::string& out) {
  if (rules.byte_tokens) {
    if (const auto byte = byte_of_piece(piece)) {
      out += static_cast<char>(*byte);
      return;
    }
  }
  switch (rules.joining) {
    case DecoderRules::Joining::bytes: out += piece; return;
    case DecoderRules::Joining::marked_words: return append_marked(rules, piece, is_first, out);
    case DecoderRules::Joining::wordpiece: return append_wordpiece(rules, piece, is_first, out);
    case DecoderRules::Joining::spaced:
      if (!is_first) out += ' ';
      out += piece;
      return;
  }
}

void append_valid_utf8(std::string_view bytes, bool each_byte, std::string& out) {
  while (!bytes.empty()) {
    const auto c = utf8::decode(bytes);
    size_t length = c.length;
    if (c.is_invalid()) {
      out += "\xEF\xBF\xBD";
      length = each_byte ? 1 : broken_character(bytes);
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
}

}  // namespace trilobite
