#include "tokenizer/space_cuts.hpp"

#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary.hpp"

namespace trilobite {
namespace {

constexpr uint32_t kMarker = 0x2581;  // "▁"
constexpr char kMarkerFirstByte = '\xE2';
constexpr std::string_view kMarkerText = "\xE2\x96\x81";

bool is_ascii(char byte) { return static_cast<signed char>(byte) >= 0; }

}  // namespace

SpaceCuts::SpaceCuts(const Vocabulary& vocabulary) {
  marker_is_known_ = vocabulary.find(kMarkerText).has_value();
  std::bitset<128> known;
  for (size_t c = 0; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    known[c] = vocabulary.find(std::string_view(&byte, 1)).has_value();
  }
  for (size_t pair = 0; pair < ascii_pairs_.size(); ++pair)
    ascii_pairs_[pair] = !known[pair / 128] && !known[pair % 128];
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    auto piece = vocabulary.piece(static_cast<TokenId>(i));
    while (!piece.empty()) {
      const auto left = utf8::decode(piece);
      piece.remove_prefix(left.length);
      if (piece.empty()) break;
      const auto right = utf8::decode(piece).code_point;
      if (left.code_point < 128 && right < 128) ascii_pairs_.set(left.code_point * 128 + right);
      if (right == kMarker) before_marker_.insert(left.code_point);
    }
  }
}

size_t SpaceCuts::next_cut(std::string_view text, size_t begin) const {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    const char before = text[i - 1];
    const char here = text[i];
    if (is_ascii(here)) {
      if (is_ascii(before) && !may_join(before, here)) return i;
    } else if (here == kMarkerFirstByte && text.substr(i).starts_with(kMarkerText)) {
      const auto left = utf8::decode_last(text.substr(0, i)).code_point;
      if (marker_is_known_ && !before_marker_.contains(left)) return i;
    }
  }
  return text.size();
}

}  // namespace trilobite
