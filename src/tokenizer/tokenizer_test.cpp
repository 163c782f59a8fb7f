#include "tokenizer/tokenizer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "gguf/writer.hpp"
#include "tokenizer/loaders.hpp"
#include "tokenizer/small_vocabulary_for_test.hpp"

namespace trilobite {
namespace {

const SmallBpe& small_bpe() {
  static const auto kBpe = train_small_bpe(sample_text(), 100);
  return kBpe;
}

std::string added_tokens() {
  return fmt::format(R"([{{"id":{},"content":"<end>","special":true,"normalized":false}},
                         {{"id":{},"content":"wide","lstrip":true,"rstrip":true,"normalized":false}},
                         {{"id":{},"content":"solo","single_word":true,"normalized":false}}])",
                     small_bpe().pieces.size(), small_bpe().pieces.size() + 1,
                     small_bpe().pieces.size() + 2);
}

Tokenizer small_tokenizer(bool as_pairs = false) {
  auto parts = tokenizer_from_json(
      to_tokenizer_json(small_bpe(), {.pre_tokenizer = std::string(kGpt2PreTokenizer),
                                      .merges_as_pairs = as_pairs,
                                      .added_tokens = added_tokens()}));
  EXPECT_TRUE(parts) << parts.error().message();
  return Tokenizer(*std::move(parts));
}

TokenId special_id(size_t index) { return static_cast<TokenId>(small_bpe().pieces.size() + index); }

TEST(Tokenizer, every_source_of_one_vocabulary_gives_the_same_ids) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "vocab.json", to_vocab_json(small_bpe())));
  ASSERT_TRUE(write_file_atomically(folder.path() / "merges.txt", to_merges_txt(small_bpe())));
  gguf::Writer writer;
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  for (const auto& piece : small_bpe().pieces) tokens.push_back(small_bpe().text_of(piece));
  for (const auto& [left, right] : small_bpe().merges)
    merges.push_back(small_bpe().text_of(left) + " " + small_bpe().text_of(right));
  writer.set_text("tokenizer.ggml.model", "gpt2");
  writer.set_text("tokenizer.ggml.pre", "gpt-2");
  writer.set_texts("tokenizer.ggml.tokens", tokens);
  writer.set_texts("tokenizer.ggml.merges", merges);
  ASSERT_TRUE(writer.start(folder.path() / "v.gguf"));
  ASSERT_TRUE(writer.finish());
  const auto from_gguf = load_tokenizer(folder.path() / "v.gguf");
  ASSERT_TRUE(from_gguf) << from_gguf.error().message();
  const auto from_files = load_tokenizer(folder.path());
  ASSERT_TRUE(from_files) << from_files.error().message();
  const auto from_json = small_tokenizer();
  const auto from_pairs = small_tokenizer(true);
  Rng rng(1);
  for (int i = 0; i < 500; ++i) {
    const auto text = random_text(rng, 60) + std::string(sample_text().substr(rng.below(300), 60));
    const auto ids = from_json.encode(text);
    ASSERT_EQ(from_pairs.encode(text), ids);
    ASSERT_EQ(from_gguf->encode(text), ids);
    ASSERT_EQ(from_files->encode(text), ids);
  }
}

TEST(Tokenizer, decoding_gives_the_text_back) {
  const auto tokenizer = small_tokenizer();
  Rng rng(2);
  for (int i = 0; i < 3000; ++i) {
    const auto text = random_text(rng, 80);
    const auto ids = tokenizer.encode(text, {.parse_special = false});
    ASSERT_EQ(tokenizer.decode(ids), text);
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (const TokenId id : ids) streamed += stream.push(id);
    ASSERT_EQ(streamed, text);
    ASSERT_EQ(stream.finish(), "");
  }
  for (const auto& text :
       {std::string(10'000'000, 'a'), std::string(100'000, ' '), std::string(1000, '\0')})
    ASSERT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, a_character_spread_over_tokens_comes_out_whole) {
  const auto tokenizer = small_tokenizer();
  const std::string emoji = "\xF0\x9F\xA6\x99";
  const auto ids = tokenizer.encode(emoji);
  ASSERT_EQ(ids.size(), 4u);
  StreamDecoder stream(tokenizer);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.push(ids[static_cast<size_t>(i)]), "");
  EXPECT_EQ(stream.push(ids[3]), emoji);
  EXPECT_EQ(stream.push(ids[0]), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(tokenizer.decode(std::vector{ids[0], ids[1], tokenizer.encode("x")[0]}),
            "\xEF\xBF\xBDx");
}

TEST(Tokenizer, a_text_that_continues_another_keeps_the_blank_that_begins_it) {
  TemporaryFolder folder;
  gguf::Writer writer;
  writer.set_text("tokenizer.ggml.model", "llama");
  writer.set_texts(
      "tokenizer.ggml.tokens",
      std::vector<std::string>{"<unk>", "<s>", "\xE2\x96\x81once", "\xE2\x96\x81time"});
  writer.set_floats("tokenizer.ggml.scores", std::vector<float>{0, 0, -1, -2});
  writer.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 1, 1});
  ASSERT_TRUE(writer.start(folder.path() / "v.gguf"));
  ASSERT_TRUE(writer.finish());
  const auto tokenizer = load_tokenizer(folder.path() / "v.gguf");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message();
  constexpr TokenId kBegin = 1;
  constexpr TokenId kOnce = 2;
  constexpr TokenId kTime = 3;
  EXPECT_EQ(tokenizer->decode(std::vector{kBegin, kOnce, kTime}), "once time");
  EXPECT_EQ(tokenizer->decode_after(std::vector{kBegin, kOnce}, std::vector{kTime}), " time");
  EXPECT_EQ(tokenizer->decode_after(std::vector{kBegin}, std::vector{kTime}), "time")
      << "a special token is no text";
  StreamDecoder stream(*tokenizer);
  stream.continue_after(std::vector{kBegin, kOnce});
  EXPECT_EQ(stream.push(kTime), " time");
}

TEST(Tokenizer, offsets_cover_the_text_without_gaps) {
  const auto tokenizer = small_tokenizer();
  Rng rng(4);
  for (int i = 0; i < 300; ++i) {
    const auto text = random_text(rng, 40);
    const auto encoding = tokenizer.encode_with_offsets(text);
    ASSERT_EQ(encoding.ids, tokenizer.encode(text));
    uint32_t position = 0;
    for (const auto& [begin, end] : encoding.offsets) {
      ASSERT_EQ(begin, position);
      position = end;
    }
    ASSERT_EQ(position, text.size());
  }
}

TEST(Tokenizer, offsets_do_not_change_the_ids_when_only_the_first_word_is_marked) {
  auto parts = tokenizer_from_json(R"({"added_tokens":[
    {"id":0,"content":"<unk>","special":true},{"id":4,"content":"Word","normalized":true}],
    "normalizer":{"type":"Strip"},
    "pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},
    "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["_",-2],["the",-3],["_the",-4]]}})");
  ASSERT_TRUE(parts) << parts.error().message();
  const Tokenizer tokenizer(*std::move(parts));
  const auto expect_ids = [&](std::string_view text, const std::vector<TokenId>& ids) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
    EXPECT_EQ(tokenizer.encode_with_offsets(text).ids, ids) << text;
  };
  expect_ids("the", {3});
  expect_ids(" the", {2});  // begins at byte 1 of the input, so it is not marked
  expect_ids("<unk>the", {0, 2});
  expect_ids("the<unk>the", {3, 0, 2});
}

TEST(Tokenizer, special_tokens_are_parsed_or_text) {
  const auto tokenizer = small_tokenizer();
  const std::string text = "a<end>b";
  const auto parsed = tokenizer.encode(text);
  EXPECT_EQ(parsed, (std::vector<TokenId>{'a', special_id(0), 'b'}));
  EXPECT_EQ(tokenizer.decode(parsed), "ab");
  EXPECT_EQ(tokenizer.decode(parsed, {.special_tokens = true}), text);
  const auto literal = tokenizer.encode(text, {.parse_special = false});
  EXPECT_EQ(std::ranges::find(literal, special_id(0)), literal.end());
  EXPECT_EQ(tokenizer.decode(literal), text);
  EXPECT_TRUE(tokenizer.is_special(special_id(0)));
  EXPECT_FALSE(tokenizer.is_special(special_id(1)));
  EXPECT_EQ(tokenizer.find("<end>"), special_id(0));
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_EQ(tokenizer.piece(1 << 20), "");
}

TEST(Tokenizer, added_tokens_strip_and_stand_alone_as_they_say) {
  const auto tokenizer = small_tokenizer();
  const auto wide = tokenizer.encode_with_offsets("a  wide \n b");
  EXPECT_EQ(wide.ids, (std::vector<TokenId>{'a', special_id(1), 'b'}));
  EXPECT_EQ(wide.offsets[1], (ByteRange{1, 10}));
  EXPECT_EQ(tokenizer.encode("solo")[0], special_id(2));
  EXPECT_EQ(tokenizer.encode("(solo)")[1], special_id(2));
  const auto within = tokenizer.encode("solos");
  EXPECT_EQ(std::ranges::find(within, special_id(2)), within.end());
}

TEST(Tokenizer, a_batch_is_its_rows_cut_and_filled) {
  const auto tokenizer = small_tokenizer();
  std::vector<std::string> texts;
  Rng rng(6);
  for (int i = 0; i < 64; ++i) texts.push_back(random_text(rng, 50));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto plain = tokenizer.encode_batch(views, {.threads = 4});
  for (size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(plain.ids[i], tokenizer.encode(texts[i]));
  const auto padded =
      tokenizer.encode_batch(views, {.threads = 2, .max_tokens = 10, .pad = true, .pad_to = 12});
  const auto left = tokenizer.encode_batch(
      views, {.max_tokens = 10, .truncate_left = true, .pad = true, .pad_left = true});
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& row = plain.ids[i];
    const size_t kept = std::min<size_t>(10, row.size());
    ASSERT_EQ(padded.lengths[i], kept);
    ASSERT_EQ(padded.ids[i].size(), 12u);
    ASSERT_TRUE(
        std::equal(row.begin(), row.begin() + static_cast<ptrdiff_t>(kept), padded.ids[i].begin()));
    ASSERT_TRUE(std::equal(row.rbegin(), row.rbegin() + static_cast<ptrdiff_t>(kept),
                           left.ids[i].rbegin()));
  }
  EXPECT_TRUE(tokenizer.encode_batch({}, {.threads = 3}).ids.empty());
}

TEST(Tokenizer, bytes_that_are_no_text_survive_in_byte_level_ids) {
  const auto tokenizer = small_tokenizer();
  const std::string text = "a\xFF\xC3(\x80";
  std::string bytes;
  for (const TokenId id : tokenizer.encode(text)) bytes += tokenizer.piece(id);
  EXPECT_EQ(bytes, text);
  EXPECT_TRUE(tokenizer.encode("").empty());
}

TEST(Tokenizer, wordpiece_takes_the_longest_pieces_and_knows_when_it_cannot) {
  auto parts = tokenizer_from_wordpiece_vocabulary(
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\nrunning\n,\ne\n\xE4\xB8\xAD\n");
  ASSERT_TRUE(parts) << parts.error().message();
  const Tokenizer tokenizer(*std::move(parts));
  const auto ids = [&](std::string_view text) {
    return tokenizer.encode(text, {.add_special = false});
  };
  using Ids = std::vector<TokenId>;
  EXPECT_EQ(ids("UNAFFABLE, running"), (Ids{5, 6, 7, 10, 9}));
  EXPECT_EQ(ids("unaffix"), (Ids{1}));
  EXPECT_EQ(ids("\xC3\xA9"), (Ids{11}));  // an accent is stripped
  EXPECT_EQ(ids("e\xE4\xB8\xAD"
                "e"),
            (Ids{11, 12, 11}));
  EXPECT_EQ(ids(std::string(101, 'e')), (Ids{1}));
  EXPECT_EQ(ids("[MASK]"), (Ids{4}));
  EXPECT_EQ(tokenizer.encode("e"), (Ids{2, 11, 3}));
  EXPECT_EQ(tokenizer.decode(Ids{2, 5, 6, 7, 10, 9, 3}), "unaffable, running");
}

TEST(Loaders, say_what_is_wrong_in_one_sentence) {
  const auto message = [](const Result<TokenizerParts>& parts) {
    return parts ? std::string("loaded") : parts.error().message();
  };
  EXPECT_NE(message(tokenizer_from_json("{")).find("line 1"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_json("{}")).find("model"), std::string::npos);
  auto bpe = to_tokenizer_json(small_bpe(), {.pre_tokenizer = R"({"type":"CharDelimiterSplit"})"});
  EXPECT_NE(message(tokenizer_from_json(bpe)).find("CharDelimiterSplit"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_tiktoken("IQ== 0\n!!!! 1\n")).find("line 2"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_wordpiece_vocabulary("a\nb\n")).find("[UNK]"),
            std::string::npos);
  EXPECT_NE(message(tokenizer_from_sentencepiece("")).find("no pieces"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_llama2c("\1\0\0\0")).find("incomplete"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_gpt2_files("[]", "")).find("vocabulary"), std::string::npos);
  EXPECT_NE(message(tokenizer_from_gpt2_files(R"({"a":-1})", "")).find("'a'"), std::string::npos);
  EXPECT_FALSE(load_tokenizer("/nonexistent/tokenizer.json"));
}

TEST(Loaders, a_way_of_splitting_that_is_not_known_is_named) {
  TemporaryFolder folder;
  gguf::Writer writer;
  const std::vector<std::string> tokens = {"a"};
  writer.set_text("tokenizer.ggml.model", "gpt2");
  writer.set_text("tokenizer.ggml.pre", "deepseek-llm");
  writer.set_texts("tokenizer.ggml.tokens", tokens);
  ASSERT_TRUE(writer.start(folder.path() / "v.gguf"));
  ASSERT_TRUE(writer.finish());
  const auto loaded = load_tokenizer(folder.path() / "v.gguf");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message().find("deepseek-llm"), std::string::npos);
}

}  // namespace
}  // namespace trilobite
