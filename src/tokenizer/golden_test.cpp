// Ids that the reference implementations give: the texts beside the vocabularies, and the hashes of
// whole corpora. The data is not part of the project; without it these tests are skipped.

#include <gtest/gtest.h>

#include <sstream>

#include "base/json.hpp"
#include "base/test_data_for_test.hpp"
#include "tokenizer/sha256_for_test.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite {
namespace {

constexpr EncodeOptions kTextOnly{.add_special = false, .parse_special = false};

Path vocabulary(std::string_view name) { return test_data_folder() / "tokenizers" / name; }

std::vector<std::string> read_texts(const Path& path) {
  constexpr std::string_view kSeparator = "\n__ggml_vocab_test__\n";
  const auto content = read_file(path).value();
  std::vector<std::string> texts;
  std::string_view rest = content;
  for (size_t end; (end = rest.find(kSeparator)) != std::string_view::npos;) {
    texts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + kSeparator.size());
  }
  return texts;
}

std::vector<std::vector<TokenId>> read_ids(const Path& path) {
  std::istringstream lines(read_file(path).value());
  std::vector<std::vector<TokenId>> rows;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    rows.emplace_back();
    for (TokenId id; words >> id;) rows.back().push_back(id);
  }
  return rows;
}

class Vectors : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { TRILOBITE_NEED_TEST_DATA("tokenizers/corpus_ids.json"); }
};

TEST_P(Vectors, give_the_reference_ids) {
  const auto path = vocabulary(GetParam());
  const auto tokenizer = load_tokenizer(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message();
  const auto texts = read_texts(path.string() + ".inp");
  const auto expected = read_ids(path.string() + ".out");
  ASSERT_EQ(texts.size(), expected.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(tokenizer->encode(texts[i], kTextOnly), expected[i]) << texts[i];
    const auto with_offsets = tokenizer->encode_with_offsets(texts[i], kTextOnly);
    EXPECT_EQ(with_offsets.ids, expected[i]) << texts[i];
    EXPECT_EQ(with_offsets.offsets.size(), expected[i].size()) << texts[i];
    if (tokenizer->kind() != "WordPiece") {
      EXPECT_EQ(tokenizer->decode(expected[i]), texts[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gguf, Vectors,
                         testing::Values("ggml-vocab-llama-bpe.gguf", "ggml-vocab-gpt-2.gguf",
                                         "ggml-vocab-bert-bge.gguf", "ggml-vocab-llama-spm.gguf"),
                         [](const auto& test) {
                           return "vocabulary_" + std::to_string(test.index);
                         });

struct CorpusCase {
  const char* tokenizer;
  const char* vocabulary;
};

class Corpora : public testing::TestWithParam<CorpusCase> {
 protected:
  void SetUp() override { TRILOBITE_NEED_TEST_DATA("tokenizers/corpus_ids.json"); }
};

/// The ids that SentencePiece itself gave were made from text whose line ends were "\n" only.
std::string with_unix_lines(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') result += text[i];
  }
  return result;
}

TEST_P(Corpora, have_the_reference_hash) {
  const auto listed = parse_json(read_file(vocabulary("corpus_ids.json")).value()).value();
  const auto& reference = listed["tokenizers"][GetParam().tokenizer];
  const bool unix_lines = reference["by"].get<std::string>().starts_with("SentencePiece");
  const auto tokenizer = load_tokenizer(vocabulary(GetParam().vocabulary));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message();
  for (const auto& [name, expected] : reference["corpora"].items()) {
    auto text = read_file(test_data_folder() / "corpora" / name).value();
    if (unix_lines) text = with_unix_lines(text);
    const auto ids = tokenizer->encode(text, kTextOnly);
    EXPECT_EQ(ids.size(), expected["count"].get<size_t>()) << name;
    const std::string_view bytes(reinterpret_cast<const char*>(ids.data()), 4 * ids.size());
    EXPECT_EQ(sha256_hex(bytes), expected["sha256"].get<std::string>()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, Corpora,
                         testing::Values(CorpusCase{"gpt2-bpe", "ggml-vocab-gpt-2.gguf"},
                                         CorpusCase{"gpt2-bpe", "gpt2/encoder.json"},
                                         CorpusCase{"llama3-bpe", "ggml-vocab-llama-bpe.gguf"},
                                         CorpusCase{"llama3-bpe", "llama3/tokenizer.model"},
                                         CorpusCase{"bert-wordpiece", "ggml-vocab-bert-bge.gguf"},
                                         CorpusCase{"bert-wordpiece", "bert/tokenizer.json"},
                                         CorpusCase{"bert-wordpiece", "bert/vocab.txt"},
                                         CorpusCase{"t5-unigram", "t5/tokenizer.json"},
                                         CorpusCase{"llama2-spm-bpe", "ggml-vocab-llama-spm.gguf"},
                                         CorpusCase{"llama2-spm-bpe", "llama2/tokenizer.model"},
                                         CorpusCase{"llama2-spm-bpe", "llama2/tokenizer.bin"},
                                         CorpusCase{"sp-unigram-1000",
                                                    "sentencepiece/test_model.model"}),
                         [](const auto& test) { return "source_" + std::to_string(test.index); });

}  // namespace
}  // namespace trilobite
