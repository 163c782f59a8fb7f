#include "gguf/gguf_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.hpp"
#include "base/temporary_folder_for_test.hpp"
#include "gguf/writer.hpp"

namespace trilobite::gguf {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Little-endian bytes put together by hand: the reader is not tested with our own writer alone.
class Bytes {
 public:
  template <typename T>
  Bytes& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& text(std::string_view text) {
    put<uint64_t>(text.size());
    text_.append(text);
    return *this;
  }
  Bytes& raw(std::string_view text) {
    text_.append(text);
    return *this;
  }
  Bytes& align() {
    while (text_.size() % 32 != 0) text_.push_back('\0');
    return *this;
  }
  std::string str() const { return text_; }

 private:
  std::string text_;
};

Bytes header(uint64_t tensors, uint64_t entries, uint32_t version = 3) {
  return Bytes().raw("GGUF").put(version).put(tensors).put(entries);
}

std::string error_of(const std::string& file) {
  const auto parsed = Gguf::parse(bytes_of(file));
  return parsed ? "parsed" : parsed.error().message();
}

std::string one_tensor(std::string_view name, std::vector<uint64_t> dimensions, uint32_t type,
                       uint64_t offset = 0, std::string_view data = {}) {
  auto file = header(1, 0).text(name).put(static_cast<uint32_t>(dimensions.size()));
  for (const uint64_t dimension : dimensions) file.put(dimension);
  return file.put(type).put(offset).align().raw(data).str();
}

/// A file with every kind of value and two tensors.
std::string complete_file(const Path& path) {
  Writer writer;
  writer.set("a.u8", Value(uint8_t{200}));
  writer.set("a.i8", Value(int8_t{-3}));
  writer.set("a.u16", Value(uint16_t{60000}));
  writer.set("a.i16", Value(int16_t{-30000}));
  writer.set_u32("a.u32", 4000000000U);
  writer.set("a.i32", Value(int32_t{-2}));
  writer.set_f32("a.f32", 0.5F);
  writer.set_bool("a.bool", true);
  writer.set_text("a.text", "hello");
  writer.set("a.u64", Value(uint64_t{1} << 60));
  writer.set("a.i64", Value(-(int64_t{1} << 60)));
  writer.set("a.f64", Value(0.25));
  writer.set_texts("a.texts", std::vector<std::string>{"x", "", "zz"});
  writer.set_i32s("a.numbers", std::vector<int32_t>{1, -2, 3});
  writer.set("a.nested",
             Value(Array{.type = ValueType::array,
                         .count = 1,
                         .arrays = {{.type = ValueType::text, .count = 1, .texts = {"inner"}}}}));
  EXPECT_TRUE(writer.declare({"w", {4, 2}, TensorType::f32}));
  EXPECT_TRUE(writer.declare({"q", {32, 3}, TensorType::q8_0}));
  EXPECT_TRUE(writer.start(path));
  const std::vector<float> w{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(writer.append(std::as_bytes(std::span(w))));
  EXPECT_TRUE(writer.append(bytes_of(std::string(3 * 34, 'q'))));
  EXPECT_TRUE(writer.finish());
  return read_file(path).value();
}

TEST(Gguf, what_is_written_is_read_again) {
  const TemporaryFolder folder;
  complete_file(folder.path() / "m.gguf");
  const auto file = GgufFile::open(folder.path() / "m.gguf");
  ASSERT_TRUE(file) << file.error().message();
  const Gguf& gguf = file->contents();
  EXPECT_EQ(gguf.version(), 3U);
  EXPECT_EQ(gguf.unsigned_integer("a.u8"), 200U);
  EXPECT_EQ(gguf.number("a.i8"), -3.0);
  EXPECT_EQ(gguf.unsigned_integer("a.u16"), 60000U);
  EXPECT_EQ(gguf.number("a.i16"), -30000.0);
  EXPECT_EQ(gguf.unsigned_integer("a.u32"), 4000000000U);
  EXPECT_EQ(gguf.number("a.i32"), -2.0);
  EXPECT_EQ(gguf.number("a.f32"), 0.5);
  EXPECT_EQ(gguf.boolean("a.bool"), true);
  EXPECT_EQ(gguf.text("a.text"), "hello");
  EXPECT_EQ(gguf.unsigned_integer("a.u64"), uint64_t{1} << 60);
  EXPECT_EQ(std::get<int64_t>(*gguf.find("a.i64")), -(int64_t{1} << 60));
  EXPECT_EQ(gguf.number("a.f64"), 0.25);
  EXPECT_THAT(gguf.array("a.texts", ValueType::text).value()->texts,
              testing::ElementsAre("x", "", "zz"));
  EXPECT_EQ(gguf.array("a.numbers", ValueType::i32).value()->number<int32_t>(1), -2);
  EXPECT_EQ(std::get<Array>(*gguf.find("a.nested")).arrays.at(0).texts.at(0), "inner");
  ASSERT_EQ(gguf.tensors().size(), 2U);
  const auto* w = gguf.find_tensor("w");
  EXPECT_EQ(w->shape_text(), "4x2");
  EXPECT_EQ(w->rows(), 2U);
  float last = 0;
  std::memcpy(&last, w->data.data() + 28, sizeof(last));
  EXPECT_EQ(last, 8.0F);
  EXPECT_EQ(gguf.find_tensor("q")->data.size(), 102U);
  EXPECT_EQ(gguf.find_tensor("nothing"), nullptr);
}

TEST(Gguf, a_missing_or_mistyped_key_is_named) {
  const TemporaryFolder folder;
  complete_file(folder.path() / "m.gguf");
  const auto file = GgufFile::open(folder.path() / "m.gguf");
  EXPECT_THAT((*file)->text("a.u8").error().message(), HasSubstr("'a.u8' should be text"));
  EXPECT_THAT((*file)->text("b").error().message(), HasSubstr("'b' is missing"));
  EXPECT_THAT((*file)->unsigned_integer("a.i8").error().message(), HasSubstr("not negative"));
  EXPECT_THAT((*file)->array("a.texts", ValueType::i32).error().message(),
              HasSubstr("array of i32"));
}

TEST(Gguf, a_file_cut_off_anywhere_is_an_error_and_nothing_else) {
  const TemporaryFolder folder;
  const auto whole = complete_file(folder.path() / "m.gguf");
  // The last bytes are padding behind the last tensor.
  const size_t needed = whole.size() - 26;
  ASSERT_TRUE(Gguf::parse(bytes_of(whole.substr(0, needed))));
  for (size_t length = 0; length < needed; ++length) {
    const std::string part = whole.substr(0, length);
    EXPECT_FALSE(Gguf::parse(bytes_of(part))) << length;
  }
}

TEST(Gguf, flipped_bits_never_crash) {
  const TemporaryFolder folder;
  const auto whole = complete_file(folder.path() / "m.gguf");
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    auto damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    refused += Gguf::parse(bytes_of(damaged)) ? 0U : 1U;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Gguf, counts_that_no_file_can_hold_are_refused_before_memory_is_taken) {
  constexpr uint64_t kHuge = ~uint64_t{0};
  EXPECT_THAT(error_of(header(kHuge, 0).str()),
              HasSubstr("announces 18446744073709551615 tensors"));
  EXPECT_THAT(error_of(header(0, kHuge / 13).str()), HasSubstr("metadata entries"));
  EXPECT_THAT(error_of(header(0, 1).put(kHuge).raw("kkkkkkkkkkkkkkk").str()),
              HasSubstr("bytes of text"));
  const auto array = [](uint32_t type, uint64_t count) {
    return header(0, 1).text("k").put<uint32_t>(9).put(type).put(count).put<uint64_t>(0).str();
  };
  EXPECT_THAT(error_of(array(0, kHuge)), HasSubstr("array elements"));
  EXPECT_THAT(error_of(array(8, kHuge / 8)), HasSubstr("array elements"));
  EXPECT_THAT(error_of(array(12, (uint64_t{1} << 61) + 1)), HasSubstr("array elements"));
}

TEST(Gguf, nesting_without_end_is_refused) {
  auto file = header(0, 1).text("k").put<uint32_t>(9);
  for (int i = 0; i < 1000; ++i) file.put<uint32_t>(9).put<uint64_t>(1);
  EXPECT_THAT(error_of(file.str()), HasSubstr("nested deeper than 4"));
}

TEST(Gguf, tensors_that_cannot_be_are_refused_by_name) {
  EXPECT_THAT(error_of(one_tensor("w", {4, 1}, 99)), HasSubstr("'w' has type number 99"));
  EXPECT_THAT(error_of(one_tensor("w", {}, 0)), HasSubstr("0 dimensions"));
  EXPECT_THAT(error_of(one_tensor("w", {1, 1, 1, 1, 1}, 0)), HasSubstr("5 dimensions"));
  EXPECT_THAT(error_of(one_tensor("w", {4, 0}, 0)), HasSubstr("dimension of 0"));
  EXPECT_THAT(error_of(one_tensor("w", {uint64_t{1} << 40, uint64_t{1} << 40}, 0)),
              HasSubstr("more elements"));
  EXPECT_THAT(error_of(one_tensor("w", {33}, 8)), HasSubstr("not whole Q8_0 blocks of 32"));
  EXPECT_THAT(error_of(one_tensor("w", {4}, 0, 3, std::string(64, 'x'))), HasSubstr("multiple"));
  EXPECT_THAT(error_of(one_tensor("w", {4}, 0, 64, std::string(64, 'x'))),
              HasSubstr("needs 16 bytes at offset 64"));
  EXPECT_THAT(error_of(one_tensor("w", {4}, 0, ~uint64_t{31}, std::string(64, 'x'))),
              HasSubstr("the file has 0 there"));
  EXPECT_THAT(error_of(one_tensor("w", {20}, 0, 0, std::string(64, 'x'))),
              HasSubstr("needs 80 bytes"));
  EXPECT_EQ(error_of(one_tensor("w", {16}, 0, 0, std::string(64, 'x'))), "parsed");
}

TEST(Gguf, duplicates_are_refused) {
  const auto entry = [](Bytes& file) -> Bytes& {
    return file.text("k").put<uint32_t>(7).put<uint8_t>(1);
  };
  auto keys = header(0, 2);
  EXPECT_THAT(error_of(entry(entry(keys)).raw("12345678").str()), HasSubstr("'k' is there twice"));
  auto names = header(2, 0);
  for (int i = 0; i < 2; ++i) {
    names.text("w").put<uint32_t>(1).put<uint64_t>(8).put<uint32_t>(0).put<uint64_t>(0);
  }
  EXPECT_THAT(error_of(names.align().raw(std::string(32, 'x')).str()),
              HasSubstr("'w' is there twice"));
}

TEST(Gguf, other_files_and_versions_are_told_apart) {
  EXPECT_THAT(error_of(""), HasSubstr("not a GGUF file"));
  EXPECT_THAT(error_of("GGU"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(error_of("{\"schema\": 1}"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(error_of(header(0, 0, 1).str()), HasSubstr("version 1"));
  EXPECT_THAT(error_of(header(0, 0, 4).str()), HasSubstr("version 4"));
  EXPECT_THAT(error_of(header(0, 0, 0x03000000).str()), HasSubstr("big-endian"));
  EXPECT_EQ(error_of(header(0, 0, 2).str()), "parsed");
}

TEST(Gguf, values_that_mean_nothing_are_refused) {
  EXPECT_THAT(error_of(header(0, 1).text("k").put<uint32_t>(13).put<uint64_t>(0).str()),
              HasSubstr("value type 13"));
  EXPECT_THAT(error_of(header(0, 1).text("k").put<uint32_t>(7).put<uint8_t>(2).str()),
              HasSubstr("boolean is 2"));
  EXPECT_THAT(error_of(header(0, 1).text("").put<uint32_t>(7).put<uint8_t>(1).str()),
              HasSubstr("key has 0 bytes"));
  for (const uint32_t alignment : {0U, 3U, 1U << 31}) {
    const auto file = header(0, 1).text("general.alignment").put<uint32_t>(4).put(alignment);
    EXPECT_THAT(error_of(file.str()), HasSubstr("power of two")) << alignment;
  }
}

TEST(Gguf, another_alignment_is_respected) {
  auto file = header(1, 1).text("general.alignment").put<uint32_t>(4).put<uint32_t>(64);
  file.text("w").put<uint32_t>(1).put<uint64_t>(1).put<uint32_t>(0).put<uint64_t>(0);
  auto text = file.str();
  text.resize((text.size() + 63) / 64 * 64);
  const float value = 7;
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  const auto gguf = Gguf::parse(bytes_of(text));
  ASSERT_TRUE(gguf) << gguf.error().message();
  float read = 0;
  std::memcpy(&read, gguf->tensors()[0].data.data(), sizeof(read));
  EXPECT_EQ(read, 7.0F);
}

TEST(GgufWriter, an_unfinished_file_leaves_nothing_behind) {
  const TemporaryFolder folder;
  {
    Writer writer;
    ASSERT_TRUE(writer.declare({"w", {4}, TensorType::f32}));
    ASSERT_TRUE(writer.start(folder.path() / "m.gguf"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GgufWriter, a_shape_that_is_no_whole_block_is_refused) {
  Writer writer;
  EXPECT_THAT(writer.declare({"w", {33}, TensorType::q4_0}).error().message(),
              HasSubstr("tensor 'w'"));
}

}  // namespace
}  // namespace trilobite::gguf
