#include "tokenizer/split_rules.hpp"

#include <array>

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

using unicode::kLetter;
using unicode::kNumber;
using unicode::kSpace;

constexpr uint8_t kLetterNumberSpace = kLetter | kNumber | kSpace;

/// A character at a position: its class bits and its length. Invalid bytes are like symbols.
struct At {
  uint32_t code_point;
  uint32_t length;
  uint8_t bits;
  bool is(uint8_t any_of) const { return (bits & any_of) != 0; }
};

At at(std::string_view text, size_t position) {
  const auto c = utf8::decode(text.data() + position, text.size() - position);
  return {c.code_point, c.length, unicode::class_of(c.code_point)};
}

/// The end of the run of characters from `position` whose class has (or has not) one of the bits.
template <bool kWanted>
size_t run_end(std::string_view text, size_t position, uint8_t any_of) {
  while (position < text.size()) {
    const auto c = at(text, position);
    if (c.is(any_of) != kWanted) break;
    position += c.length;
  }
  return position;
}

/// The length of 's 't 're 've 'm 'll 'd at `position`, 0 when there is none.
size_t contraction(std::string_view text, size_t position, bool ignore_case) {
  constexpr std::string_view kLongS = "\xC5\xBF";  // matches an s when case is ignored
  const auto rest = text.substr(position + 1);
  if (rest.empty()) return 0;
  const auto lower = [&](size_t i) {
    return static_cast<char>(ignore_case && rest[i] >= 'A' && rest[i] <= 'Z' ? rest[i] | 0x20
                                                                             : rest[i]);
  };
  const char first = lower(0);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (ignore_case && rest.starts_with(kLongS)) return 1 + kLongS.size();
  if (rest.size() < 2) return 0;
  const char second = lower(1);
  const bool matches =
      (second == 'e' && (first == 'r' || first == 'v')) || (first == 'l' && second == 'l');
  return matches ? 3 : 0;
}

/// \s+(?!\S)|\s+ : a run of white space leaves its last character to the word that follows.
size_t space_end(std::string_view text, size_t begin) {
  const size_t end = run_end<true>(text, begin, kSpace);
  if (end == text.size()) return end;
  const size_t last = utf8::decode_last(text.substr(begin, end - begin)).length;
  return end - last > begin ? end - last : end;
}

size_t gpt2_word_end(std::string_view text, size_t begin) {
  auto first = at(text, begin);
  if (first.code_point == '\'') {
    if (const size_t length = contraction(text, begin, false)) return begin + length;
  }
  size_t position = begin;
  if (first.code_point == ' ' && begin + 1 < text.size()) first = at(text, ++position);
  if (first.is(kLetter)) return run_end<true>(text, position, kLetter);
  if (first.is(kNumber)) return run_end<true>(text, position, kNumber);
  if (!first.is(kSpace)) return run_end<false>(text, position, kLetterNumberSpace);
  return space_end(text, begin);
}

bool is_line_break(uint32_t code_point) { return code_point == '\r' || code_point == '\n'; }

size_t skip_line_breaks(std::string_view text, size_t position) {
  while (position < text.size() && is_line_break(static_cast<uint8_t>(text[position]))) ++position;
  return position;
}

size_t digits_end(std::string_view text, size_t position, size_t most) {
  for (; most > 0 && position < text.size(); --most) {
    const auto c = at(text, position);
    if (!c.is(kNumber)) break;
    position += c.length;
  }
  return position;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+
size_t llama3_space_end(std::string_view text, size_t begin) {
  const size_t end = run_end<true>(text, begin, kSpace);
  const size_t last_break = text.substr(begin, end - begin).find_last_of("\r\n");
  return last_break != std::string_view::npos ? begin + last_break + 1 : space_end(text, begin);
}

size_t llama3_word_end(std::string_view text, size_t begin, size_t most_digits) {
  const auto first = at(text, begin);
  if (first.is(kLetter)) return run_end<true>(text, begin, kLetter);
  if (first.is(kNumber)) return digits_end(text, begin, most_digits);
  if (first.code_point == '\'') {
    if (const size_t length = contraction(text, begin, true)) return begin + length;
  }
  const size_t after = begin + first.length;
  if (after < text.size() && !is_line_break(first.code_point)) {
    const auto second = at(text, after);
    if (second.is(kLetter)) return run_end<true>(text, after, kLetter);
    if (first.code_point == ' ' && !second.is(kLetterNumberSpace))
      return skip_line_breaks(text, run_end<false>(text, after, kLetterNumberSpace));
  }
  if (!first.is(kSpace))
    return skip_line_breaks(text, run_end<false>(text, begin, kLetterNumberSpace));
  return llama3_space_end(text, begin);
}

/// Calls `end_of(position)` again and again; everything is in some piece.
template <typename EndOf>
void split_all(std::string_view text, PieceConsumer& consumer, EndOf end_of) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of(begin);
    consumer.piece(begin, end);
    begin = end;
  }
}

/// As split_all, but white space between pieces is dropped.
template <typename EndOf>
void split_dropping_space(std::string_view text, PieceConsumer& consumer, EndOf end_of) {
  for (size_t begin = 0; begin < text.size();) {
    begin = run_end<true>(text, begin, kSpace);
    if (begin == text.size()) return;
    const size_t end = end_of(begin);
    consumer.piece(begin, end);
    begin = end;
  }
}

bool is_bert_punctuation(const At& c) {
  const uint32_t p = c.code_point;
  if (p < 128) {
    return (p >= 33 && p <= 47) || (p >= 58 && p <= 64) || (p >= 91 && p <= 96) ||
           (p >= 123 && p <= 126);
  }
  return c.is(unicode::kPunctuation);
}

size_t until_punctuation(std::string_view text, size_t begin, bool stop_at_space) {
  auto c = at(text, begin);
  size_t position = begin + c.length;
  if (is_bert_punctuation(c)) return position;
  while (position < text.size()) {
    c = at(text, position);
    if (is_bert_punctuation(c) || (stop_at_space && c.is(kSpace))) break;
    position += c.length;
  }
  return position;
}

size_t digits_or_others_end(std::string_view text, size_t begin, bool individual) {
  const auto first = at(text, begin);
  if (!first.is(kNumber)) return run_end<false>(text, begin, kNumber);
  return individual ? begin + first.length : run_end<true>(text, begin, kNumber);
}

struct Splitter {
  std::string_view text;
  PieceConsumer& consumer;

  void operator()(const Gpt2Words&) const {
    split_all(text, consumer, [&](size_t begin) { return gpt2_word_end(text, begin); });
  }
  void operator()(const Llama3Words& rule) const {
    split_all(text, consumer,
              [&](size_t begin) { return llama3_word_end(text, begin, rule.most_digits); });
  }
  void operator()(const BertWords&) const {
    split_dropping_space(text, consumer,
                         [&](size_t begin) { return until_punctuation(text, begin, true); });
  }
  void operator()(const SpaceSeparated&) const {
    split_dropping_space(text, consumer,
                         [&](size_t begin) { return run_end<false>(text, begin, kSpace); });
  }
  void operator()(const WordsAndSymbols&) const {
    split_dropping_space(text, consumer, [&](size_t begin) {
      return at(text, begin).is(unicode::kWord)
                 ? run_end<true>(text, begin, unicode::kWord)
                 : run_end<false>(text, begin, unicode::kWord | kSpace);
    });
  }
  void operator()(const IsolatedPunctuation&) const {
    split_all(text, consumer, [&](size_t begin) { return until_punctuation(text, begin, false); });
  }
  void operator()(const IsolatedDigits& rule) const {
    split_all(text, consumer,
              [&](size_t begin) { return digits_or_others_end(text, begin, rule.individual); });
  }
  void operator()(const BeforeMarker& rule) const {
    split_all(text, consumer, [&](size_t begin) {
      return std::min(text.find(rule.marker, begin + 1), text.size());
    });
  }
  void operator()(const SpaceCuts& cuts) const {
    split_all(text, consumer, [&](size_t begin) { return cuts.next_cut(text, begin); });
  }
};

/// Passes the pieces of one rule on to the next.
class NextRule final : public PieceConsumer {
 public:
  NextRule(std::span<const SplitRule> rules, std::string_view text, PieceConsumer& consumer)
      : rules_(rules), text_(text), consumer_(consumer) {}
  void piece(size_t begin, size_t end) override {
    if (rules_.empty()) return consumer_.piece(offset_ + begin, offset_ + end);
    const auto part = text_.substr(begin, end - begin);
    NextRule next(rules_.subspan(1), part, consumer_);
    next.offset_ = offset_ + begin;
    split(rules_.front(), part, next);
  }

 private:
  std::span<const SplitRule> rules_;
  std::string_view text_;
  PieceConsumer& consumer_;
  size_t offset_ = 0;
};

}  // namespace

void split(const SplitRule& rule, std::string_view text, PieceConsumer& consumer) {
  std::visit(Splitter{text, consumer}, rule);
}

void split(const std::vector<SplitRule>& rules, std::string_view text, PieceConsumer& consumer) {
  if (text.empty()) return;
  if (rules.size() == 1) return split(rules.front(), text, consumer);
  NextRule(rules, text, consumer).piece(0, text.size());
}

}  // namespace trilobite
