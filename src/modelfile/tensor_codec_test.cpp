#include "modelfile/tensor_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using gguf::TensorType;
using testing::HasSubstr;

constexpr size_t kColumns = 512;
constexpr size_t kRows = 300;  // no multiple of the rows that are taken at a time

std::vector<float> ternary_values(size_t count) {
  std::vector<float> values = normal_values(count);
  for (auto& value : values) value = value > 0.5F ? 0.25F : value < -0.5F ? -0.25F : 0.0F;
  return values;
}

gguf::GgufFile matrix_file(const Path& path, TensorType type, const std::vector<float>& values) {
  write_model(path, {{"w", {kColumns, kRows}, type, values}});
  return gguf::GgufFile::open(path).value();
}

TEST(TensorCodec, every_type_holds_ternary_weights_well) {
  const TemporaryFolder folder;
  const auto values = ternary_values(kRows * kColumns);
  for (const auto type : kTensorTypes) {
    const auto file = matrix_file(folder.path() / "m.gguf", type, values);
    const auto read = decode_rows(file->tensors()[0], 0, kRows);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_GT(quant::measure_error(values, *read).snr_db, 20) << gguf::name_of(type);
    const bool exact = is_ternary(type) || type == TensorType::f16;
    EXPECT_EQ(exact && *read != values, false) << gguf::name_of(type);
  }
}

TEST(TensorCodec, a_conversion_equals_decoding_and_encoding_the_whole) {
  const TemporaryFolder folder;
  const auto values = normal_values(kRows * kColumns);
  const auto source = matrix_file(folder.path() / "m.gguf", TensorType::f16, values);
  const auto& tensor = source->tensors()[0];
  const auto decoded = decode_rows(tensor, 0, kRows).value();
  ThreadPool one(1);
  ThreadPool three(3);
  for (const auto type : kTensorTypes) {
    const auto expected = encode_rows(type, decoded, kColumns).value();
    const auto alone = convert(tensor, type, one).value();
    const auto shared = convert(tensor, type, three).value();
    EXPECT_EQ(alone.bytes, expected) << gguf::name_of(type);
    EXPECT_EQ(shared.bytes, expected) << gguf::name_of(type);
    EXPECT_EQ(shared.errors.measures().snr_db, alone.errors.measures().snr_db);
  }
}

TEST(TensorCodec, some_rows_are_read_without_the_others) {
  const TemporaryFolder folder;
  const auto values = normal_values(kRows * kColumns);
  const auto file = matrix_file(folder.path() / "m.gguf", TensorType::q6_k, values);
  const auto all = decode_rows(file->tensors()[0], 0, kRows).value();
  const auto some = decode_rows(file->tensors()[0], 17, 2).value();
  EXPECT_EQ(some, std::vector<float>(all.begin() + 17 * kColumns, all.begin() + 19 * kColumns));
}

TEST(TensorCodec, a_type_that_does_not_fit_gives_way) {
  EXPECT_EQ(fitting_type(TensorType::tq2_0, 512), TensorType::tq2_0);
  EXPECT_EQ(fitting_type(TensorType::tq2_0, 96), TensorType::q8_0);
  EXPECT_EQ(fitting_type(TensorType::i2_s, 64), TensorType::q8_0);
  EXPECT_EQ(fitting_type(TensorType::q4_0, 172), TensorType::f16);
  EXPECT_EQ(fitting_type(TensorType::f32, 1), TensorType::f32);
}

TEST(TensorCodec, types_are_known_by_name_or_refused_with_the_list) {
  EXPECT_EQ(parse_tensor_type("tq2_0").value(), TensorType::tq2_0);
  EXPECT_EQ(parse_tensor_type("BF16").value(), TensorType::bf16);
  for (const auto* name : {"Q5_0", "int3", ""})
    EXPECT_THAT(parse_tensor_type(name).error().message(), HasSubstr("F32, F16, BF16"));
}

TEST(TensorCodec, a_type_that_cannot_be_read_is_named) {
  const TemporaryFolder folder;
  gguf::Writer writer;
  ASSERT_TRUE(writer.declare({"w", {64, 2}, TensorType::iq2_bn}));
  ASSERT_TRUE(writer.start(folder.path() / "m.gguf"));
  const std::string bytes(2 * 20, 'x');
  ASSERT_TRUE(writer.append(std::as_bytes(std::span(bytes))));
  ASSERT_TRUE(writer.finish());
  const auto file = gguf::GgufFile::open(folder.path() / "m.gguf").value();
  const auto read = decode_rows(file->tensors()[0], 0, 2);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("'w' has type IQ2_BN"));
}

TEST(TensorCodec, weights_that_a_type_cannot_hold_are_an_error) {
  const TemporaryFolder folder;
  auto values = normal_values(kRows * kColumns);
  values[1000] = 1e30F;
  const auto file = matrix_file(folder.path() / "m.gguf", TensorType::f32, values);
  ThreadPool pool(2);
  const auto converted = convert(file->tensors()[0], TensorType::f16, pool);
  ASSERT_FALSE(converted);
  EXPECT_THAT(converted.error().message(), HasSubstr("tensor 'w'"));
}

}  // namespace
}  // namespace trilobite::modelfile
