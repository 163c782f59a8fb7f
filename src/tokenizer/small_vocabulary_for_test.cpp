#include "tokenizer/small_vocabulary_for_test.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "tokenizer/large_json.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

std::string character(uint32_t code_point) {
  char bytes[4];
  return {bytes, utf8::encode(code_point, bytes)};
}

/// GPT-2's character for a byte, made here anew so that the table under test is not its own judge.
std::string alphabet_character(uint8_t byte) {
  uint32_t next = 256;
  for (unsigned b = 0; b < 256; ++b) {
    const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    if (b == byte) return character(printable ? b : next);
    if (!printable) ++next;
  }
  return {};
}

using Words = std::map<std::vector<std::string>, size_t>;

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' ', 1), text.size());
    std::vector<std::string> symbols;
    for (const char c : text.substr(0, end)) symbols.emplace_back(1, c);
    ++words[symbols];
    text.remove_prefix(end);
  }
  return words;
}

std::pair<std::string, std::string> most_frequent_pair(const Words& words) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const auto& [symbols, count] : words) {
    for (size_t i = 0; i + 1 < symbols.size(); ++i) counts[{symbols[i], symbols[i + 1]}] += count;
  }
  auto best = counts.begin();
  for (auto it = counts.begin(); it != counts.end(); ++it) {
    if (it->second > best->second) best = it;
  }
  return best == counts.end() ? std::pair<std::string, std::string>() : best->first;
}

Words merged(const Words& words, const std::pair<std::string, std::string>& pair) {
  Words result;
  for (const auto& [symbols, count] : words) {
    std::vector<std::string> joined;
    for (const auto& symbol : symbols) {
      if (!joined.empty() && joined.back() == pair.first && symbol == pair.second) {
        joined.back() += symbol;
      } else {
        joined.push_back(symbol);
      }
    }
    result[joined] += count;
  }
  return result;
}

LargeJson vocabulary_json(const SmallBpe& bpe) {
  LargeJson vocabulary;
  for (size_t i = 0; i < bpe.pieces.size(); ++i) vocabulary[bpe.text_of(bpe.pieces[i])] = i;
  return vocabulary;
}

}  // namespace

std::string SmallBpe::text_of(std::string_view bytes) const {
  std::string text;
  for (const char c : bytes) text += alphabet_character(static_cast<uint8_t>(c));
  return text;
}

SmallBpe train_small_bpe(std::string_view text, size_t count) {
  SmallBpe bpe;
  for (unsigned byte = 0; byte < 256; ++byte) bpe.pieces.emplace_back(1, static_cast<char>(byte));
  auto words = words_of(text);
  while (count-- > 0) {
    const auto pair = most_frequent_pair(words);
    if (pair.first.empty()) break;
    words = merged(words, pair);
    bpe.merges.push_back(pair);
    bpe.pieces.push_back(pair.first + pair.second);
  }
  return bpe;
}

std::string to_vocab_json(const SmallBpe& bpe) { return vocabulary_json(bpe).dump(); }

std::string to_merges_txt(const SmallBpe& bpe) {
  std::string text = "#version: 0.2\n";
  for (const auto& [left, right] : bpe.merges)
    text += bpe.text_of(left) + " " + bpe.text_of(right) + "\n";
  return text;
}

std::string to_tokenizer_json(const SmallBpe& bpe, const JsonOptions& options) {
  LargeJson json;
  json["added_tokens"] = LargeJson::parse(options.added_tokens);
  json["pre_tokenizer"] = LargeJson::parse(options.pre_tokenizer);
  json["decoder"]["type"] = "ByteLevel";
  json["model"]["type"] = "BPE";
  json["model"]["vocab"] = vocabulary_json(bpe);
  auto& merges = json["model"]["merges"] = LargeJson::array();
  for (const auto& [left, right] : bpe.merges) {
    const auto a = bpe.text_of(left);
    const auto b = bpe.text_of(right);
    if (options.merges_as_pairs) {
      merges.push_back({a, b});
    } else {
      merges.push_back(a + " " + b);
    }
  }
  return json.dump();
}

std::string_view sample_text() {
  return "the quick brown fox jumps over the lazy dog and the other dogs were not amused at all, "
         "they had been sleeping in the sun since the morning and thought that the fox was rude; "
         "nothing however stops a fox that has somewhere to be, and this one was late for the "
         "theatre where the other foxes had been waiting there for the better part of an hour "
         "1234 5678 90 1999 2024 times (or so they said).";
}

std::string random_text(Rng& rng, size_t characters) {
  struct Range {
    uint32_t first;
    uint32_t count;
  };
  constexpr std::array kRanges = {
      Range{'a', 26},      Range{'a', 26},       Range{'A', 26},        Range{'0', 10},
      Range{' ', 1},       Range{' ', 16},       Range{'\t', 5},        Range{0, 32},
      Range{0x7F, 0x80},   Range{0xC0, 0x100},   Range{0x300, 0x40},    Range{0x391, 0x80},
      Range{0x410, 0x40},  Range{0x5D0, 0x50},   Range{0x905, 0x70},    Range{0x1100, 0x60},
      Range{0x2000, 0x70}, Range{0x3000, 0x100}, Range{0x4E00, 0x100},  Range{0xAC00, 0x100},
      Range{0xFF00, 0x60}, Range{0xFB00, 7},     Range{0x1F300, 0x300}, Range{0x1F1E6, 26},
      Range{0x1D165, 8},   Range{0x200B, 4},     Range{0x20000, 0x10},  Range{0xFFF0, 14}};
  std::string text;
  for (size_t i = rng.below(characters + 1); i > 0; --i) {
    const auto& range = kRanges[rng.below(kRanges.size())];
    text += character(range.first + static_cast<uint32_t>(rng.below(range.count)));
  }
  return text;
}

}  // namespace trilobite
