#include "modelfile/model_tensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using testing::HasSubstr;

/// What taking the tensors of such a model with one more says.
std::string problem_with(const ModelShape& shape, TensorForTest more) {
  const TemporaryFolder folder;
  auto tensors = tensors_of(shape);
  tensors.push_back(std::move(more));
  write_small_model(folder.path() / "m.gguf", shape, tensors);
  const auto file = gguf::GgufFile::open(folder.path() / "m.gguf").value();
  const auto read = read_shape(file.contents());
  if (!read) return read.error().message();
  const auto taken = ModelTensors::take(file.contents(), *read);
  return taken ? "fine" : taken.error().message();
}

TEST(ModelTensors, what_an_architecture_may_have_is_taken_in_its_shape_only) {
  const auto llama = small_shape("llama");
  EXPECT_EQ(problem_with(llama, tensor_for_test("rope_freqs.weight", {2})), "fine");
  EXPECT_EQ(problem_with(llama, tensor_for_test("blk.1.attn_q.scale", {1})), "fine");
  EXPECT_EQ(problem_with(llama, tensor_for_test("blk.1.ffn_up.bias", {12})), "fine");
  EXPECT_EQ(problem_with(llama, tensor_for_test("output.weight", {8, 5})), "fine");
  EXPECT_THAT(problem_with(llama, tensor_for_test("rope_freqs.weight", {3})),
              HasSubstr("3, not 2"));
  EXPECT_THAT(problem_with(llama, tensor_for_test("blk.1.ffn_up.bias", {11})),
              HasSubstr("blk.1.ffn_up.bias is 11, not 12"));
  auto untied = llama;
  untied.tied_head = false;
  EXPECT_EQ(problem_with(untied, tensor_for_test("output.bias", {5})), "fine");
  EXPECT_THAT(problem_with(untied, tensor_for_test("output.bias", {1})), HasSubstr("output.bias"));
}

TEST(ModelTensors, what_an_architecture_does_not_have_is_refused_by_name) {
  for (const auto& [architecture, name] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"llama", "blk.0.attn_qkv.weight"},
           {"llama", "blk.0.attn_q_norm.weight"},
           {"llama", "blk.0.attn_sub_norm.weight"},
           {"llama", "blk.0.attn_norm.bias"},
           {"llama", "blk.0.post_attention_norm.weight"},
           {"llama", "blk.2.attn_q.weight"},
           {"llama", "rope_factors_long.weight"},
           {"llama", "token_embd_norm.weight"},
           {"llama", "position_embd.weight"},
           {"llama", "token_types.weight"},
           {"llama", "token_embd.bias"},
           {"bitnet", "output_norm.bias"},
           {"gpt2", "blk.0.ffn_gate.weight"},
           {"gpt2", "token_embd.bias"},
           {"bert", "blk.0.attn_norm_2.weight"},
           {"bert", "output.weight"}}) {
    EXPECT_THAT(problem_with(small_shape(architecture), tensor_for_test(name, {4})),
                HasSubstr("tensor '" + std::string(name) + "' is no part of " + architecture))
        << architecture;
  }
}

TEST(ModelTensors, the_classifier_of_a_bert_model_is_left_aside) {
  EXPECT_EQ(problem_with(small_shape("bert"), tensor_for_test("cls.output.weight", {8, 3})),
            "fine");
  EXPECT_NE(problem_with(small_shape("llama"), tensor_for_test("cls.output.weight", {8, 3})),
            "fine");
}

TEST(ModelTensors, only_the_models_tensors_are_found) {
  const TemporaryFolder folder;
  const auto shape = small_shape("bert");
  auto tensors = tensors_of(shape);
  tensors.push_back(tensor_for_test("cls.weight", {8, 8}));
  write_small_model(folder.path() / "m.gguf", shape, tensors);
  const auto file = gguf::GgufFile::open(folder.path() / "m.gguf").value();
  const auto taken = ModelTensors::take(file.contents(), read_shape(file.contents()).value());
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_NE(taken->find("blk.0.attn_q.weight"), nullptr);
  EXPECT_EQ(taken->find("cls.weight"), nullptr);
  EXPECT_EQ(taken->all().size(), tensors.size() - 1);
}

}  // namespace
}  // namespace trilobite::modelfile
