// Build tool: writes unicode_tables.cpp from utf8proc's data. Usage: make_unicode_tables OUTPUT

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tokenizer/unicode_tables.hpp"

namespace {

using namespace trilobite::unicode;
using CodePoints = std::vector<uint32_t>;

constexpr uint32_t kHangulFirst = 0xAC00;
constexpr uint32_t kHangulLast = 0xD7A3;

bool is_between(uint32_t value, uint32_t first, uint32_t last) {
  return first <= value && value <= last;
}

bool is_space(uint32_t c) {
  return is_between(c, 9, 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         is_between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

/// Alphabetic characters that are neither letters nor marks, and the joiners.
bool is_extra_word_character(uint32_t c) {
  return is_between(c, 0x24B6, 0x24E9) || is_between(c, 0x1F130, 0x1F149) ||
         is_between(c, 0x1F150, 0x1F169) || is_between(c, 0x1F170, 0x1F189) ||
         is_between(c, 0x200C, 0x200D);
}

uint8_t class_bits(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  unsigned bits = is_space(c) ? kSpace : 0;
  if (is_between(category, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO)) bits |= kLetter | kWord;
  if (is_between(category, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME)) bits |= kMark | kWord;
  if (is_between(category, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO)) bits |= kNumber;
  if (is_between(category, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO)) bits |= kPunctuation;
  if (category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
      category == UTF8PROC_CATEGORY_PC) {
    bits |= kWord;
  }
  if (category == UTF8PROC_CATEGORY_MN) bits |= kNonspacingMark;
  if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
      category == UTF8PROC_CATEGORY_CO) {
    bits |= kOther;
  }
  if (is_extra_word_character(c)) bits |= kWord;
  return static_cast<uint8_t>(bits);
}

GraphemeClass grapheme_class_of(uint32_t c) {
  switch (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass) {
    case UTF8PROC_BOUNDCLASS_CR: return GraphemeClass::cr;
    case UTF8PROC_BOUNDCLASS_LF: return GraphemeClass::lf;
    case UTF8PROC_BOUNDCLASS_CONTROL: return GraphemeClass::control;
    case UTF8PROC_BOUNDCLASS_EXTEND:
    case UTF8PROC_BOUNDCLASS_E_MODIFIER: return GraphemeClass::extend;
    case UTF8PROC_BOUNDCLASS_ZWJ: return GraphemeClass::zero_width_joiner;
    case UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR: return GraphemeClass::regional_indicator;
    case UTF8PROC_BOUNDCLASS_PREPEND: return GraphemeClass::prepend;
    case UTF8PROC_BOUNDCLASS_SPACINGMARK: return GraphemeClass::spacing_mark;
    case UTF8PROC_BOUNDCLASS_L: return GraphemeClass::hangul_l;
    case UTF8PROC_BOUNDCLASS_V: return GraphemeClass::hangul_v;
    case UTF8PROC_BOUNDCLASS_T: return GraphemeClass::hangul_t;
    case UTF8PROC_BOUNDCLASS_LV: return GraphemeClass::hangul_lv;
    case UTF8PROC_BOUNDCLASS_LVT: return GraphemeClass::hangul_lvt;
    case UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC: return GraphemeClass::pictographic;
    default: return GraphemeClass::other;
  }
}

CodePoints decompose(uint32_t c, bool compatibility) {
  std::array<utf8proc_int32_t, 64> buffer{};
  int last_class = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer.data(),
                                             static_cast<utf8proc_ssize_t>(buffer.size()),
                                             static_cast<utf8proc_option_t>(options), &last_class);
  return {buffer.begin(), buffer.begin() + count};
}

CodePoints compose(const CodePoints& decomposed) {
  std::vector<utf8proc_int32_t> buffer(decomposed.begin(), decomposed.end());
  const auto count =
      utf8proc_normalize_utf32(buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return {buffer.begin(), buffer.begin() + count};
}

/// All distinct decompositions in one pool; 0 stands for "itself".
class DecompositionPool {
 public:
  uint16_t offset_of(uint32_t c, bool compatibility) {
    if (is_between(c, kHangulFirst, kHangulLast)) return 0;  // computed, not stored
    const auto parts = decompose(c, compatibility);
    if (parts == CodePoints{c}) return 0;
    const auto [found, is_new] = offsets_.emplace(parts, static_cast<uint16_t>(pool_.size()));
    if (is_new) {
      pool_.push_back(static_cast<uint32_t>(parts.size()));
      pool_.insert(pool_.end(), parts.begin(), parts.end());
    }
    return found->second;
  }
  const CodePoints& pool() const { return pool_; }

 private:
  CodePoints pool_{0};
  std::map<CodePoints, uint16_t> offsets_;
};

/// A character composes when composing its decomposition gives it back; its first half is then
/// all of the decomposition but the last.
std::vector<tables::Composition> find_compositions() {
  std::vector<tables::Composition> found;
  for (uint32_t c = 0; c <= kLastCodePoint; ++c) {
    if (is_between(c, kHangulFirst, kHangulLast)) continue;
    auto parts = decompose(c, false);
    if (parts.size() < 2 || compose(parts) != CodePoints{c}) continue;
    const uint32_t second = parts.back();
    parts.pop_back();
    const auto first = compose(parts);
    if (first.size() == 1) found.push_back({first[0], second, c});
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return found;
}

template <typename Range>
void write_numbers(std::ofstream& out, const Range& numbers) {
  size_t column = 0;
  for (const auto number : numbers) {
    out << +number << ',';
    if (++column % 32 == 0) out << '\n';
  }
}

template <typename T, typename ValueOf>
void write_table(std::ofstream& out, const char* name, const char* type, ValueOf value_of) {
  using Block = std::array<T, tables::kBlockSize>;
  std::map<Block, uint16_t> blocks;
  std::vector<Block> distinct;
  std::vector<uint16_t> index;
  for (uint32_t block = 0; block < tables::kBlocks; ++block) {
    Block values;
    for (uint32_t i = 0; i < tables::kBlockSize; ++i)
      values[i] = value_of(block * tables::kBlockSize + i);
    const auto [found, is_new] = blocks.emplace(values, static_cast<uint16_t>(distinct.size()));
    if (is_new) distinct.push_back(values);
    index.push_back(found->second);
  }
  out << fmt::format("static constexpr uint16_t {}Index[] = {{\n", name);
  write_numbers(out, index);
  out << fmt::format("}};\nstatic constexpr {} {}Values[] = {{\n", type, name);
  for (const auto& values : distinct) write_numbers(out, values);
  out << fmt::format("}};\nconst TwoStage<{0}> {1}{{{1}Index, {1}Values}};\n", type, name);
}

int32_t lower_delta(uint32_t c) {
  return utf8proc_tolower(static_cast<utf8proc_int32_t>(c)) - static_cast<int32_t>(c);
}

void write_all(std::ofstream& out) {
  out << "#include \"tokenizer/unicode_tables.hpp\"\nnamespace trilobite::unicode::tables {\n";
  write_table<uint8_t>(out, "kClasses", "uint8_t", class_bits);
  write_table<uint8_t>(out, "kCombiningClasses", "uint8_t", [](uint32_t c) {
    return static_cast<uint8_t>(
        utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
  });
  write_table<uint8_t>(out, "kGraphemeClasses", "uint8_t",
                       [](uint32_t c) { return static_cast<uint8_t>(grapheme_class_of(c)); });
  write_table<int32_t>(out, "kLowerDeltas", "int32_t", lower_delta);
  DecompositionPool pool;
  write_table<uint16_t>(out, "kCanonicalOffsets", "uint16_t",
                        [&](uint32_t c) { return pool.offset_of(c, false); });
  write_table<uint16_t>(out, "kCompatibilityOffsets", "uint16_t",
                        [&](uint32_t c) { return pool.offset_of(c, true); });
  out << "const uint32_t kDecompositions[] = {\n";
  write_numbers(out, pool.pool());
  out << "};\nstatic constexpr Composition kCompositionArray[] = {\n";
  for (const auto& [first, second, composed] : find_compositions())
    out << fmt::format("{{{},{},{}}},\n", first, second, composed);
  out << "};\nconst std::span<const Composition> kCompositions(kCompositionArray);\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_unicode_tables OUTPUT\n");
    return 2;
  }
  std::ofstream out(argv[1]);
  write_all(out);
  out.flush();
  return out.good() ? 0 : 1;
}
