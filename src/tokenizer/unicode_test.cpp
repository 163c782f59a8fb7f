// Normalisation forms and clusters against Unicode's own test files (Debian's package
// unicode-data).

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "tokenizer/graphemes.hpp"
#include "tokenizer/unicode_forms.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

constexpr const char* kNormalizationTest = "/usr/share/unicode/NormalizationTest.txt";
constexpr const char* kGraphemeTest = "/usr/share/unicode/auxiliary/GraphemeBreakTest.txt";

/// The file's content; packed with bzip2 as Debian does, if it is not there as it is.
std::string read_data(const std::string& path) {
  std::string text;
  const std::string command =
      "cat '" + path + "' 2>/dev/null || bzcat '" + path + ".bz2' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  char buffer[1 << 14];
  while (pipe != nullptr) {
    const size_t count = std::fread(buffer, 1, sizeof(buffer), pipe.get());
    if (count == 0) break;
    text.append(buffer, count);
  }
  return text;
}

/// "0041 0300" as UTF-8.
std::string from_hex(const std::string& field) {
  std::istringstream words(field);
  std::string text;
  for (std::string word; words >> word;) {
    char bytes[4];
    text += std::string_view(
        bytes, utf8::encode(static_cast<uint32_t>(std::stoul(word, nullptr, 16)), bytes));
  }
  return text;
}

TEST(UnicodeForms, pass_the_test_file_of_unicode) {
  const auto data = read_data(kNormalizationTest);
  if (data.empty()) GTEST_SKIP() << "no " << kNormalizationTest << "; Debian's unicode-data has it";
  std::istringstream lines(data);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '@') continue;
    std::istringstream fields(line);
    std::string c[5];
    for (auto& column : c) {
      std::string field;
      std::getline(fields, field, ';');
      column = from_hex(field);
    }
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(normalize(UnicodeForm::nfc, c[i]), c[i < 3 ? 1 : 3]) << line;
      ASSERT_EQ(normalize(UnicodeForm::nfd, c[i]), c[i < 3 ? 2 : 4]) << line;
      ASSERT_EQ(normalize(UnicodeForm::nfkc, c[i]), c[3]) << line;
      ASSERT_EQ(normalize(UnicodeForm::nfkd, c[i]), c[4]) << line;
    }
    ++count;
  }
  EXPECT_GT(count, 18000u);
}

TEST(UnicodeForms, long_runs_of_marks_are_sorted) {
  std::string marks = "a";
  for (int i = 0; i < 20000; ++i) marks += "\xCC\x81\xCC\xA3";  // above, then below
  const auto sorted = normalize(UnicodeForm::nfd, marks);
  EXPECT_EQ(sorted.substr(0, 5), "a\xCC\xA3\xCC\xA3");
  EXPECT_EQ(sorted.size(), marks.size());
}

TEST(UnicodeForms, bytes_that_are_no_text_become_replacement_characters) {
  EXPECT_EQ(normalize(UnicodeForm::nfc, "a\xFF\xE2\x82"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Graphemes, pass_the_test_file_of_unicode) {
  const auto data = read_data(kGraphemeTest);
  if (data.empty()) GTEST_SKIP() << "no " << kGraphemeTest << "; Debian's unicode-data has it";
  std::istringstream lines(data);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string> clusters;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == "\xC3\xB7") clusters.emplace_back();  // "÷": a boundary
      if (word != "\xC3\xB7" && word != "\xC3\x97") clusters.back() += from_hex(word);
    }
    if (clusters.empty()) continue;
    clusters.pop_back();
    std::string text;
    for (const auto& cluster : clusters) text += cluster;
    std::vector<std::string> found;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(found.back().size()))
      found.emplace_back(rest.substr(0, first_grapheme(rest)));
    ASSERT_EQ(found, clusters) << line;
    ++count;
  }
  EXPECT_GT(count, 500u);
}

TEST(Utf8, incomplete_characters_at_the_end_are_counted) {
  EXPECT_EQ(utf8::incomplete_tail("a"), 0u);
  EXPECT_EQ(utf8::incomplete_tail("a\xE2\x82"), 2u);
  EXPECT_EQ(utf8::incomplete_tail("a\xE2\x82\xAC"), 0u);
  EXPECT_EQ(utf8::incomplete_tail("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(utf8::incomplete_tail("\x80\x80\x80"), 0u);
  EXPECT_EQ(utf8::incomplete_tail("\xC0"), 0u);
  EXPECT_EQ(utf8::incomplete_tail(""), 0u);
}

}  // namespace
}  // namespace trilobite
