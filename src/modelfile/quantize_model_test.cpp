#include "modelfile/quantize_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/i2s_layout.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using gguf::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

class QuantizeModel : public testing::Test {
 protected:
  Path source() const { return folder_.path() / "in.gguf"; }
  Path target() const { return folder_.path() / "out.gguf"; }

  /// An untied model of a few tensors; one of them has columns that only floats fit.
  void write_source(TensorType type, bool tied = false) const {
    std::vector<TensorForTest> tensors{
        {"token_embd.weight", {256, 16}, type, normal_values(256 * 16, 1)},
        {"position_embd.weight", {256, 4}, TensorType::f16, normal_values(256 * 4, 2)},
        {"output_norm.weight", {256}, TensorType::f16, normal_values(256, 3)},
        {"blk.0.attn_q.weight", {256, 64}, type, normal_values(256 * 64, 4)},
        {"blk.0.ffn_down.weight", {44, 256}, TensorType::f32, normal_values(44 * 256, 5)}};
    if (!tied) tensors.push_back({"output.weight", {256, 16}, type, normal_values(256 * 16, 6)});
    write_model(source(), tensors, [](gguf::Writer& writer) {
      writer.set_text("general.architecture", "llama");
      writer.set_u32("general.file_type", 99);
      writer.set_u32("general.alignment", 32);
      writer.set_texts("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
    });
  }

  QuantizeReport quantize(const QuantizeRequest& request) const {
    const auto file = gguf::GgufFile::open(source()).value();
    ThreadPool pool(2);
    auto report = quantize_model(file, request, target(), pool);
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }

  /// The types of the written file, in its order.
  std::vector<std::string_view> types() const {
    const auto file = gguf::GgufFile::open(target()).value();
    std::vector<std::string_view> names;
    for (const auto& tensor : file->tensors()) names.push_back(tensor.type->name);
    return names;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(QuantizeModel, each_tensor_gets_the_type_that_its_role_asks_for) {
  write_source(TensorType::f16);
  quantize({.type = TensorType::q4_0});
  EXPECT_THAT(types(), ElementsAre("Q4_0", "F32", "F32", "Q4_0", "F16", "Q6_K"));
  quantize({.type = TensorType::tq2_0});
  EXPECT_THAT(types(), ElementsAre("Q6_K", "F32", "F32", "TQ2_0", "F16", "Q6_K"));
  quantize({.type = TensorType::q8_0, .head = TensorType::f16, .embedding = TensorType::q4_1});
  EXPECT_THAT(types(), ElementsAre("Q4_1", "F32", "F32", "Q8_0", "F16", "F16"));
}

TEST_F(QuantizeModel, a_tied_embedding_is_treated_as_the_head) {
  write_source(TensorType::f16, true);
  quantize({.type = TensorType::q4_0});
  EXPECT_THAT(types(), ElementsAre("Q6_K", "F32", "F32", "Q4_0", "F16"));
  quantize({.type = TensorType::q4_0, .head = TensorType::q8_0});
  EXPECT_THAT(types(), ElementsAre("Q8_0", "F32", "F32", "Q4_0", "F16"));
}

TEST_F(QuantizeModel, every_type_is_written_and_its_error_is_right) {
  write_source(TensorType::f32);
  for (const auto type : kTensorTypes) {
    const auto report = quantize({.type = type, .head = type, .embedding = type});
    const auto& outcome = report.by_type.at(type);
    const auto file = gguf::GgufFile::open(target()).value();
    EXPECT_EQ(file->unsigned_integer("general.file_type").value() == 99, false);
    if (outcome.converted == 0) continue;
    const auto* tensor = file->find_tensor("blk.0.attn_q.weight");
    const auto restored = decode_rows(*tensor, 0, tensor->rows()).value();
    const auto errors = quant::measure_error(normal_values(256 * 64, 4), restored);
    // The other tensors of this type are as random as this one.
    EXPECT_NEAR(outcome.errors.measures().cosine, errors.cosine, 0.02) << gguf::name_of(type);
  }
}

TEST_F(QuantizeModel, what_has_the_type_already_is_taken_over) {
  write_source(TensorType::q8_0);
  const auto report = quantize({.type = TensorType::q8_0});
  EXPECT_EQ(report.by_type.at(TensorType::q8_0).converted, 0U);
  const auto before = gguf::GgufFile::open(source()).value();
  const auto after = gguf::GgufFile::open(target()).value();
  const auto old_bytes = before->find_tensor("blk.0.attn_q.weight")->data;
  const auto new_bytes = after->find_tensor("blk.0.attn_q.weight")->data;
  EXPECT_TRUE(std::ranges::equal(old_bytes, new_bytes));
}

TEST_F(QuantizeModel, metadata_stays_and_exceptions_are_said) {
  write_source(TensorType::f16);
  const auto report = quantize({.type = TensorType::tq1_0});
  ASSERT_EQ(report.exceptions.size(), 1U);
  EXPECT_THAT(report.exceptions[0],
              HasSubstr("'blk.0.ffn_down.weight' becomes F16: its 44 columns"));
  const auto file = gguf::GgufFile::open(target()).value();
  EXPECT_EQ(file->text("general.architecture").value(), "llama");
  EXPECT_EQ(file->unsigned_integer("general.file_type").value(), 36U);
  EXPECT_EQ(file->unsigned_integer("general.quantization_version").value(), 2U);
  EXPECT_EQ(file->array("tokenizer.ggml.tokens", gguf::ValueType::text).value()->count, 2U);
}

TEST_F(QuantizeModel, i2s_is_read_in_the_layout_that_it_has) {
  quant::TernaryMatrix ternary{.rows = 8, .cols = 256, .codes = {}, .scales = {0.5F}};
  for (const float value : normal_values(8 * 256))
    ternary.codes.push_back(value > 0.5F ? int8_t{1} : value < -0.5F ? int8_t{-1} : int8_t{0});
  const auto values = quant::dequantize_ternary(ternary);
  for (const auto layout : quant::kI2sLayouts) {
    gguf::Writer writer;
    const auto bytes = quant::pack_i2s(ternary, layout);
    ASSERT_TRUE(writer.declare({"blk.0.attn_q.weight", {256, 8}, TensorType::i2_s}));
    ASSERT_TRUE(writer.start(source()));
    ASSERT_TRUE(writer.append(std::as_bytes(std::span(bytes))));
    ASSERT_TRUE(writer.finish());
    for (const auto type : {TensorType::f32, TensorType::tq2_0, TensorType::i2_s}) {
      quantize({.type = type, .i2s_layout = layout});
      const auto file = gguf::GgufFile::open(target()).value();
      // What is written is in our own layout, and says so.
      EXPECT_EQ(decode_tensor(file->tensors()[0]).value(), values)
          << quant::name_of(layout) << " to " << gguf::name_of(type);
      EXPECT_EQ(file->find(kI2sLayoutKey) != nullptr, type == TensorType::i2_s);
    }
  }
}

TEST_F(QuantizeModel, a_failure_leaves_no_file) {
  write_model(source(),
              {{"blk.0.attn_q.weight", {32, 1}, TensorType::f32, std::vector<float>(32, 1e30F)}});
  const auto file = gguf::GgufFile::open(source()).value();
  ThreadPool pool(1);
  EXPECT_FALSE(quantize_model(file, {.type = TensorType::f16}, target(), pool));
  EXPECT_FALSE(std::filesystem::exists(target()));
}

}  // namespace
}  // namespace trilobite::modelfile
