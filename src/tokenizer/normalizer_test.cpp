#include "tokenizer/normalizer.hpp"

#include <gtest/gtest.h>

#include "tokenizer/base64.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/decoder.hpp"
#include "tokenizer/piece_trie.hpp"
#include "tokenizer/small_vocabulary_for_test.hpp"

namespace trilobite {
namespace {

std::string apply_steps(std::vector<NormalizeStep> steps, std::string_view text) {
  NormalizeBuffers plain;
  NormalizeBuffers aligned;
  const auto with_origins = normalize(steps, {.bytes = text}, true, aligned);
  EXPECT_EQ(with_origins.origins.size(), with_origins.bytes.size());
  const auto result = normalize(steps, {.bytes = text}, false, plain).bytes;
  EXPECT_EQ(result, with_origins.bytes);
  return std::string(result);
}

TEST(Normalizers, do_what_their_names_say) {
  EXPECT_EQ(apply_steps({Lowercase()}, "\xC3\x84 \xC4\xB0 \xCE\xA3X"),
            "\xC3\xA4 i\xCC\x87 \xCF\x83x");
  EXPECT_EQ(apply_steps({UnicodeForm::nfd, StripAccents()}, "\xC3\xA9t\xC3\xA9"), "ete");
  EXPECT_EQ(apply_steps({StripSpace{}}, "\xE3\x80\x80 a b \n"), "a b");
  EXPECT_EQ(apply_steps({StripSpace{.left = false}}, " a "), " a");
  EXPECT_EQ(apply_steps({ReplaceText{"ab", "c"}}, "abxabab"), "cxcc");
  EXPECT_EQ(apply_steps({ReplaceSpaceRuns{"_"}}, "a  b c   "), "a_b c_");
  EXPECT_EQ(apply_steps({PrependText{"_"}}, "a"), "_a");
  EXPECT_EQ(apply_steps({PrependText{"_"}}, ""), "");
  EXPECT_EQ(apply_steps({PrefixSpace()}, "a"), " a");
  EXPECT_EQ(apply_steps({PrefixSpace()}, " a"), " a");
  EXPECT_EQ(apply_steps({Metaspace{.marker = "_"}}, "a b"), "_a_b");
  EXPECT_EQ(apply_steps({Metaspace{.marker = "_"}}, " a"), "_a");
  EXPECT_EQ(apply_steps({Metaspace{.marker = "_", .prepend = Metaspace::Prepend::never}}, "a b"),
            "a_b");
  EXPECT_EQ(apply_steps({Metaspace{.marker = "_", .each_word = true}}, " a\n b"), "_a_b");
}

TEST(Normalizers, bert_cleans_separates_and_strips) {
  EXPECT_EQ(apply_steps({BertClean()}, "\xC3\x89\tA\x01\xE4\xB8\xAD\xEF\xBF\xBD!"),
            "e a \xE4\xB8\xAD !");
  EXPECT_EQ(apply_steps({BertClean{.strip_accents = false}}, "\xC3\x89"), "\xC3\xA9");
  EXPECT_EQ(apply_steps({BertClean{.strip_accents = false, .lowercase = false}}, "\xC3\x89 A"),
            "\xC3\x89 A");
  EXPECT_EQ(apply_steps({BertClean()},
                        "a\xFF"
                        "b"),
            "ab");
}

TEST(Normalizers, offsets_lead_back_to_the_input) {
  NormalizeBuffers buffers;
  const std::vector<NormalizeStep> steps = {BertClean()};
  const auto view = normalize(steps, {.bytes = "\xC3\x89 \xE4\xB8\xAD"}, true, buffers);
  ASSERT_EQ(view.bytes, "e  \xE4\xB8\xAD ");
  EXPECT_EQ(view.origin(0, 1), (ByteRange{0, 2}));
  EXPECT_EQ(view.origin(3, 6), (ByteRange{3, 6}));
}

TEST(Normalizers, no_text_upsets_them) {
  Rng rng(8);
  for (int i = 0; i < 2000; ++i) {
    auto text = random_text(rng, 30);
    if (!text.empty() && i % 3 == 0)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    apply_steps({BertClean(), UnicodeForm::nfkc, Lowercase(), StripAccents(), Metaspace()}, text);
    apply_steps({SentencePieceRules(), UnicodeForm::nfd}, text);
  }
}

TEST(Charsmap, broken_rules_are_refused) {
  EXPECT_TRUE(Charsmap::parse("")->is_empty());
  EXPECT_FALSE(Charsmap::parse("abc"));
  EXPECT_FALSE(Charsmap::parse(std::string("\xFF\xFF\0\0rules", 9)));
}

TEST(PieceTrie, finds_every_beginning) {
  Rng rng(9);
  std::vector<std::string> pieces;
  for (int i = 0; i < 3000; ++i) pieces.push_back(random_text(rng, 6));
  std::vector<PieceTrie::Entry> entries;
  for (size_t i = 0; i < pieces.size(); ++i)
    entries.emplace_back(pieces[i], static_cast<int32_t>(i));
  const PieceTrie trie(entries);
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    PieceTrie::Cursor cursor(trie);
    for (const char c : piece) ASSERT_TRUE(cursor.step(c));
    ASSERT_GE(cursor.value(), 0);
    ASSERT_EQ(pieces[static_cast<size_t>(cursor.value())], piece);
  }
}

TEST(Base64, decodes_and_refuses) {
  EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
  EXPECT_EQ(decode_base64("aGVsbG8"), "hello");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("a"), std::nullopt);
  EXPECT_EQ(decode_base64("a b="), std::nullopt);
}

TEST(ByteAlphabet, stands_for_bytes_or_for_itself) {
  EXPECT_EQ(bytes_of("\xC4\xA0"
                     "a\xC4\x8A"),
            " a\n");
  EXPECT_EQ(bytes_of("<|\xE2\x96\x81|>"), "<|\xE2\x96\x81|>");
  EXPECT_EQ(bytes_of("\xC4"), "\xC4");
}

}  // namespace
}  // namespace trilobite
