#include "tokenizer/split_rules.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tokenizer/small_vocabulary_for_test.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

using Pieces = std::vector<std::string>;

class Collector final : public PieceConsumer {
 public:
  explicit Collector(std::string_view text) : text_(text) {}
  void piece(size_t begin, size_t end) override {
    pieces.emplace_back(text_.substr(begin, end - begin));
  }
  Pieces pieces;

 private:
  std::string_view text_;
};

Pieces pieces_of(const std::vector<SplitRule>& rules, std::string_view text) {
  Collector collector(text);
  split(rules, text, collector);
  return collector.pieces;
}

/// The regular expressions read alternative by alternative over an array of characters: slow, and
/// close to how they are written.
class SlowRegex {
 public:
  explicit SlowRegex(std::string_view text) {
    while (!text.empty()) {
      const auto c = utf8::decode(text);
      characters_.push_back({c.code_point, std::string(text.substr(0, c.length))});
      text.remove_prefix(c.length);
    }
  }
  Pieces gpt2() {
    return all([this](size_t i) {
      return first_of({contraction(i, false), optional_blank(i, &SlowRegex::letter),
                       optional_blank(i, &SlowRegex::number), optional_blank(i, &SlowRegex::symbol),
                       spaces(i)});
    });
  }
  Pieces llama3() {
    return all([this](size_t i) {
      return first_of(
          {contraction(i, true), word(i), numbers(i), symbols_and_breaks(i), breaks(i), spaces(i)});
    });
  }

 private:
  using Is = bool (SlowRegex::*)(size_t) const;
  bool has(size_t i, uint8_t bits) const {
    return i < characters_.size() && (unicode::class_of(characters_[i].first) & bits) != 0;
  }
  bool letter(size_t i) const { return has(i, unicode::kLetter); }
  bool number(size_t i) const { return has(i, unicode::kNumber); }
  bool space(size_t i) const { return has(i, unicode::kSpace); }
  bool symbol(size_t i) const {
    return i < characters_.size() && !letter(i) && !number(i) && !space(i);
  }
  bool is(size_t i, uint32_t c) const {
    return i < characters_.size() && characters_[i].first == c;
  }
  bool line_break(size_t i) const { return is(i, '\r') || is(i, '\n'); }
  size_t run(size_t i, Is what) const {
    while ((this->*what)(i)) ++i;
    return i;
  }
  static size_t first_of(std::initializer_list<size_t> ends) {
    for (const size_t end : ends) {
      if (end != 0) return end;
    }
    return 0;
  }
  // Each returns the end of its match at i, 0 when it does not match.
  size_t contraction(size_t i, bool any_case) const {
    if (!is(i, '\'')) return 0;
    for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      bool matches = true;
      for (size_t k = 0; k < ending.size(); ++k) {
        const auto lower = static_cast<uint32_t>(ending[k]);
        matches = matches && (is(i + 1 + k, lower) || (any_case && is(i + 1 + k, lower - 32)) ||
                              (any_case && lower == 's' && is(i + 1 + k, 0x17F)));
      }
      if (matches) return i + 1 + ending.size();
    }
    return 0;
  }
  size_t optional_blank(size_t i, Is what) const {
    const size_t begin = is(i, ' ') && (this->*what)(i + 1) ? i + 1 : i;
    return (this->*what)(begin) ? run(begin, what) : 0;
  }
  size_t word(size_t i) const {
    const bool prefixed = i < characters_.size() && !line_break(i) && !letter(i) && !number(i);
    if (prefixed && letter(i + 1)) return run(i + 1, &SlowRegex::letter);
    return letter(i) ? run(i, &SlowRegex::letter) : 0;
  }
  size_t numbers(size_t i) const {
    if (!number(i)) return 0;
    return number(i + 1) ? (number(i + 2) ? i + 3 : i + 2) : i + 1;
  }
  size_t symbols_and_breaks(size_t i) const {
    const size_t end = optional_blank(i, &SlowRegex::symbol);
    return end == 0 ? 0 : run(end, &SlowRegex::line_break);
  }
  size_t breaks(size_t i) const {
    for (size_t end = run(i, &SlowRegex::space); end > i; --end) {
      if (line_break(end - 1)) return end;
    }
    return 0;
  }
  size_t spaces(size_t i) const {
    const size_t end = run(i, &SlowRegex::space);
    if (end == i) return 0;
    return end < characters_.size() && end - i > 1 ? end - 1 : end;
  }
  Pieces all(const std::function<size_t(size_t)>& end_of) {
    Pieces pieces;
    for (size_t i = 0; i < characters_.size();) {
      const size_t end = end_of(i);
      EXPECT_GT(end, i);
      std::string piece;
      for (; i < end; ++i) piece += characters_[i].second;
      pieces.push_back(piece);
    }
    return pieces;
  }
  std::vector<std::pair<uint32_t, std::string>> characters_;
};

TEST(SplitRules, are_what_the_regular_expressions_say) {
  Rng rng(11);
  constexpr std::string_view kTricky =
      "''''ssSStTrReEvVmMlLdD  \t\n\r\n aZ9.,!\xC5\xBF\xC2\xA0\xE3\x80\x80";
  for (int i = 0; i < 20000; ++i) {
    std::string text = random_text(rng, 12);
    for (size_t k = rng.below(12); k > 0; --k) {
      const auto c = utf8::decode(kTricky.substr(rng.below(kTricky.size() - 10)));
      if (!c.is_invalid()) text += static_cast<char>(c.code_point < 128 ? c.code_point : 's');
      if (rng.below(20) == 0) text += kTricky.substr(kTricky.size() - 7);
    }
    ASSERT_EQ(pieces_of({Gpt2Words()}, text), SlowRegex(text).gpt2()) << text;
    ASSERT_EQ(pieces_of({Llama3Words()}, text), SlowRegex(text).llama3()) << text;
  }
}

TEST(SplitRules, known_texts_fall_into_known_pieces) {
  EXPECT_EQ(pieces_of({Gpt2Words()}, "I've  12345 x!?\n\n y"),
            (Pieces{"I", "'ve", " ", " 12345", " x", "!?", "\n\n", " y"}));
  EXPECT_EQ(pieces_of({Llama3Words()}, "I'VE  12345 x!?\n\n y"),
            (Pieces{"I", "'VE", " ", " ", "123", "45", " x", "!?\n\n", " y"}));
  EXPECT_EQ(pieces_of({Llama3Words{.most_digits = 1}}, "12a"), (Pieces{"1", "2", "a"}));
  EXPECT_EQ(pieces_of({BertWords()}, " don't stop\tnow."),
            (Pieces{"don", "'", "t", "stop", "now", "."}));
  EXPECT_EQ(pieces_of({WordsAndSymbols()}, "a_b!? c"), (Pieces{"a_b", "!?", "c"}));
  EXPECT_EQ(pieces_of({IsolatedDigits{true}}, "a12b"), (Pieces{"a", "1", "2", "b"}));
  EXPECT_EQ(pieces_of({SpaceSeparated(), IsolatedDigits{false}}, " a12 b"),
            (Pieces{"a", "12", "b"}));
  EXPECT_EQ(pieces_of({BeforeMarker{"_"}}, "_a__b"), (Pieces{"_a", "_", "_b"}));
  EXPECT_EQ(pieces_of({}, "as it is"), (Pieces{"as it is"}));
  EXPECT_EQ(pieces_of({Gpt2Words()}, ""), Pieces());
}

TEST(SplitRules, bytes_that_are_no_text_are_symbols) {
  EXPECT_EQ(pieces_of({Gpt2Words()}, "a\xFF\xFE b\xE2\x82"),
            (Pieces{"a", "\xFF\xFE", " b", "\xE2\x82"}));
}

}  // namespace
}  // namespace trilobite
