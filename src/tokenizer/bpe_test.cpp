#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "tokenizer/bpe_model.hpp"
#include "tokenizer/building.hpp"
#include "tokenizer/small_vocabulary_for_test.hpp"

namespace trilobite {
namespace {

/// Rules between few symbols in any order, so that everything that can go wrong does.
MergeTable random_rules(Rng& rng, Symbol symbols) {
  MergeTable table;
  for (int i = 0; i < 200; ++i) {
    table.insert(static_cast<Symbol>(rng.below(static_cast<uint64_t>(symbols))),
                 static_cast<Symbol>(rng.below(static_cast<uint64_t>(symbols))),
                 {static_cast<uint32_t>(rng.below(40)),
                  static_cast<Symbol>(rng.below(static_cast<uint64_t>(symbols)))});
  }
  return table;
}

TEST(BpeMerge, gives_what_the_obvious_algorithm_gives) {
  MergeBuffers buffers;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const auto table = random_rules(rng, 30);
    for (const size_t size : {0u, 1u, 2u, 3u, 47u, 48u, 49u, 50u, 300u}) {
      std::vector<SizedSymbol> symbols(size);
      for (auto& symbol : symbols) symbol = {static_cast<Symbol>(rng.below(31)) - 1, 1};
      auto expected = symbols;
      merge_symbols_slowly(table, expected);
      symbols.resize(merge_symbols(table, symbols, buffers));
      ASSERT_EQ(symbols, expected) << "seed " << seed << ", " << size << " symbols";
    }
  }
}

struct Model {
  Vocabulary vocabulary;
  std::unique_ptr<BpeModel> model;
};

std::unique_ptr<Model> small_model() {
  auto made = std::make_unique<Model>();
  const auto bpe = train_small_bpe(sample_text(), 120);
  for (const auto& piece : bpe.pieces) made->vocabulary.add(piece, TokenKind::normal);
  made->vocabulary.build_index();
  MergeListBuilder builder(made->vocabulary, bpe.merges.size(), false);
  for (const auto& [left, right] : bpe.merges) builder.add_pair(left, right);
  made->model = std::make_unique<BpeModel>(
      BpeModel::Definition{.vocabulary = &made->vocabulary,
                           .symbols = SymbolTable::of_bytes(made->vocabulary),
                           .merges = builder.finish().value(),
                           .unknown = {}});
  return made;
}

TEST(BpeModel, long_words_in_windows_give_the_tokens_of_the_whole) {
  const auto made = small_model();
  Rng rng(3);
  ModelBuffers buffers;
  for (const size_t size : {2047u, 2048u, 2049u, 4200u, 7001u}) {
    for (const std::string_view letters : {"a", "the", "theorn ", "abcdefghijklmnopqrstuvwxyz "}) {
      std::string word;
      for (size_t i = 0; i < size; ++i) word += letters[rng.below(letters.size())];
      std::vector<TokenId> ids;
      std::vector<TokenId> expected;
      std::vector<uint32_t> lengths;
      TokenSink sink{&ids, &lengths};
      TokenSink slow{&expected};
      made->model->encode(word, buffers, sink);
      made->model->encode_slowly(word, slow);
      ASSERT_EQ(ids, expected) << size << " of '" << letters << "'";
      size_t sum = 0;
      for (const auto length : lengths) sum += length;
      ASSERT_EQ(sum, word.size());
    }
  }
}

TEST(MergeList, a_rule_with_a_missing_piece_is_an_error_that_names_it) {
  Vocabulary vocabulary;
  for (const char* piece : {"a", "b", "ab"}) vocabulary.add(piece, TokenKind::normal);
  vocabulary.build_index();
  MergeListBuilder builder(vocabulary, 2, false);
  builder.add_line("a b");
  builder.add_line("ab c");
  const auto table = builder.finish();
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message().find("'c'"), std::string::npos) << table.error().message();
  MergeListBuilder words(vocabulary, 2, false);
  words.add_line("a b c");
  EXPECT_FALSE(words.finish());
}

TEST(Vocabulary, holes_and_duplicates_are_defined) {
  Vocabulary vocabulary;
  vocabulary.set(0, "same", TokenKind::normal);
  vocabulary.set(4, "same", TokenKind::normal);
  vocabulary.set(5, "a piece of more than sixteen bytes", TokenKind::normal);
  vocabulary.set(6, "<s>", TokenKind::control);
  vocabulary.build_index();
  EXPECT_EQ(vocabulary.size(), 7u);
  EXPECT_EQ(vocabulary.find("same"), 4);
  EXPECT_EQ(vocabulary.find("a piece of more than sixteen bytes"), 5);
  EXPECT_EQ(vocabulary.find("a piece of more than sixteen bytez"), std::nullopt);
  EXPECT_EQ(vocabulary.find("<s>"), std::nullopt);
  EXPECT_EQ(vocabulary.find_any("<s>"), 6);
  EXPECT_EQ(vocabulary.kind(2), TokenKind::missing);
  EXPECT_EQ(vocabulary.piece(2), "");
}

}  // namespace
}  // namespace trilobite
