// The SentencePiece library as judge: models are trained here, and every id must be the library's.

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>

#include "base/temporary_folder_for_test.hpp"
#include "tokenizer/small_vocabulary_for_test.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite {
namespace {

constexpr EncodeOptions kTextOnly{.add_special = false, .parse_special = false};

struct Training {
  const char* name;
  const char* options;
};

class SentencePiece : public testing::TestWithParam<Training> {
 protected:
  void SetUp() override {
    Rng rng(5);
    std::ofstream input(folder_.path() / "text.txt");
    for (int i = 0; i < 300; ++i) input << sample_text().substr(rng.below(300), 90) << '\n';
    for (int i = 0; i < 60; ++i) {
      auto line = random_text(rng, 40);
      std::erase_if(line, [](char c) { return c == '\n' || c == '\0' || c == '\r'; });
      input << line << '\n';
    }
    input.close();
    const auto prefix = (folder_.path() / "model").string();
    const auto trained = sentencepiece::SentencePieceTrainer::Train(
        "--minloglevel=2 --hard_vocab_limit=false --num_threads=1 --character_coverage=0.98 "
        "--input=" +
        (folder_.path() / "text.txt").string() + " --model_prefix=" + prefix + " " +
        GetParam().options);
    ASSERT_TRUE(trained.ok()) << trained.ToString();
    ASSERT_TRUE(oracle_.Load(prefix + ".model").ok());
    auto loaded = load_tokenizer(prefix + ".model");
    ASSERT_TRUE(loaded) << loaded.error().message();
    tokenizer_.emplace(*std::move(loaded));
  }

  void expect_same(const std::string& text) {
    std::vector<int> expected;
    ASSERT_TRUE(oracle_.Encode(text, &expected).ok());
    const auto ids = tokenizer_->encode(text, kTextOnly);
    ASSERT_EQ(ids, expected) << GetParam().name << ": '" << text.substr(0, 200) << "'";
    std::string decoded;
    ASSERT_TRUE(oracle_.Decode(expected, &decoded).ok());
    ASSERT_EQ(tokenizer_->decode(ids), decoded)
        << GetParam().name << ": '" << text.substr(0, 200) << "'";
  }

  TemporaryFolder folder_;
  sentencepiece::SentencePieceProcessor oracle_;
  std::optional<Tokenizer> tokenizer_;
};

std::string random_words(Rng& rng, size_t words) {
  std::string text;
  for (size_t i = 0; i < words; ++i) {
    const size_t begin = rng.below(sample_text().size() - 12);
    text += sample_text().substr(begin, 1 + rng.below(12));
    if (rng.below(4) == 0) text += ' ';
  }
  return text;
}

TEST_P(SentencePiece, gives_the_librarys_ids_for_thousands_of_texts) {
  Rng rng(17);
  for (int i = 0; i < 1500; ++i) expect_same(random_text(rng, 30));
  for (int i = 0; i < 1500; ++i) expect_same(random_words(rng, 8));
  for (const char* text :
       {"", " ", "   ", " a", "a ", "  a  b  ", "\n", "<s>", "</s> <unk>", "\xE2\x96\x81", "<user>",
        "a<user>b <user>", "x<us", "\xEF\xAC\x81ne", "e\xCC\x81t"}) {
    expect_same(text);
  }
}

TEST_P(SentencePiece, gives_the_librarys_ids_for_long_texts_and_runs) {
  Rng rng(18);
  expect_same(random_words(rng, 4000));
  expect_same(std::string(5000, 't'));
  expect_same(std::string(3000, ' '));
  std::string no_blanks = random_words(rng, 3000);
  std::erase(no_blanks, ' ');
  expect_same(no_blanks);
}

TEST_P(SentencePiece, bytes_that_are_no_text_are_what_the_library_makes_of_them) {
  Rng rng(19);
  for (int i = 0; i < 500; ++i) {
    std::string text = random_words(rng, 3);
    for (int k = 0; k < 3; ++k)
      text.insert(rng.below(text.size() + 1), 1, static_cast<char>(rng.below(256)));
    expect_same(text);
  }
}

TEST_P(SentencePiece, a_truncated_model_is_an_error_or_a_smaller_model) {
  const auto whole = read_file(folder_.path() / "model.model").value();
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    const auto path = folder_.path() / "cut.model";
    ASSERT_TRUE(write_file_atomically(path, std::string_view(whole).substr(0, size)));
    if (const auto loaded = load_tokenizer(path)) (void)loaded->encode(sample_text());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trained, SentencePiece,
    testing::Values(
        Training{"bpe", "--model_type=bpe --vocab_size=700"},
        Training{"bpe_bytes",
                 "--model_type=bpe --vocab_size=900 --byte_fallback=true "
                 "--normalization_rule_name=identity --remove_extra_whitespaces=false"},
        Training{"bpe_symbols",
                 "--model_type=bpe --vocab_size=700 --user_defined_symbols=<user>,fox "
                 "--split_by_whitespace=false"},
        Training{"bpe_suffix",
                 "--model_type=bpe --vocab_size=700 --treat_whitespace_as_suffix=true"},
        Training{"unigram", "--model_type=unigram --vocab_size=500"},
        Training{"unigram_bytes", "--model_type=unigram --vocab_size=700 --byte_fallback=true"},
        Training{"unigram_symbols",
                 "--model_type=unigram --vocab_size=500 --user_defined_symbols=<user>,fox "
                 "--normalization_rule_name=nfkc_cf"},
        Training{"unigram_no_prefix",
                 "--model_type=unigram --vocab_size=500 --add_dummy_prefix=false "
                 "--remove_extra_whitespaces=false"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trilobite
