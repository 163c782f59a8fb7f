#include "modelfile/model_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::modelfile {
namespace {

using testing::HasSubstr;

ModelShape shape_of(std::string architecture) {
  return {.architecture = std::move(architecture),
          .context = 16,
          .width = 8,
          .layers = 3,
          .heads = 4,
          .kv_heads = 2,
          .feed_forward = 12,
          .vocabulary = 5};
}

std::set<std::string> names_of(const ModelShape& shape) {
  std::set<std::string> names;
  for (const auto& tensor : expected_tensors(shape)) names.insert(tensor.name);
  return names;
}

// The counts are those of the files in use: 9, 11, 12 and 16 tensors a layer.
TEST(ModelShape, every_architecture_has_its_tensors) {
  EXPECT_EQ(names_of(shape_of("llama")).size(), 2U + 3 * 9);
  EXPECT_EQ(names_of(shape_of("bitnet")).size(), 2U + 3 * 11);
  EXPECT_EQ(names_of(shape_of("bitnet-b1.58")).size(), 2U + 3 * 11);
  EXPECT_EQ(names_of(shape_of("gpt2")).size(), 4U + 3 * 12);
  EXPECT_EQ(names_of(shape_of("bert")).size(), 5U + 3 * 16);
  auto untied = shape_of("llama");
  untied.tied_head = false;
  EXPECT_TRUE(names_of(untied).contains("output.weight"));
  EXPECT_FALSE(names_of(shape_of("llama")).contains("output.weight"));
}

TEST(ModelShape, key_and_value_layers_are_narrower_with_grouped_heads) {
  std::map<std::string, std::vector<uint64_t>> dimensions;
  for (const auto& tensor : expected_tensors(shape_of("llama")))
    dimensions[tensor.name] = tensor.dimensions;
  EXPECT_EQ(dimensions.at("blk.1.attn_k.weight"), (std::vector<uint64_t>{8, 4}));
  EXPECT_EQ(dimensions.at("blk.1.ffn_down.weight"), (std::vector<uint64_t>{12, 8}));
}

TEST(ModelShape, a_name_tells_what_a_tensor_is_for) {
  EXPECT_EQ(role_of("token_embd.weight"), TensorRole::embedding);
  EXPECT_EQ(role_of("output.weight"), TensorRole::head);
  EXPECT_EQ(role_of("output_norm.weight"), TensorRole::norm);
  EXPECT_EQ(role_of("token_embd_norm.bias"), TensorRole::bias);
  EXPECT_EQ(role_of("position_embd.weight"), TensorRole::table);
  EXPECT_EQ(role_of("blk.0.attn_output.weight"), TensorRole::linear);
}

/// What reading the shape of such a file says.
std::string problem_of(std::string_view architecture, uint32_t heads, uint32_t layers) {
  const TemporaryFolder folder;
  write_model(folder.path() / "m.gguf",
              {{"token_embd.weight", {2, 2}, gguf::TensorType::f32, {1, 2, 3, 4}}},
              [&](gguf::Writer& writer) {
                const std::string prefix = std::string(architecture) + ".";
                writer.set_text("general.architecture", architecture);
                writer.set_u32(prefix + "context_length", 16);
                writer.set_u32(prefix + "embedding_length", 8);
                writer.set_u32(prefix + "block_count", layers);
                writer.set_u32(prefix + "feed_forward_length", 8);
                writer.set_u32(prefix + "attention.head_count", heads);
                writer.set_f32(epsilon_key(architecture), 1e-5F);
                writer.set_texts("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
              });
  const auto file = gguf::GgufFile::open(folder.path() / "m.gguf").value();
  const auto shape = read_shape(file.contents());
  return shape ? "fine" : shape.error().message();
}

TEST(ModelShape, impossible_files_are_refused_with_the_reason) {
  EXPECT_EQ(problem_of("llama", 2, 1), "fine");
  EXPECT_EQ(problem_of("bert", 8, 1), "fine");
  EXPECT_THAT(problem_of("mamba", 2, 1), HasSubstr("'mamba' is not known"));
  EXPECT_THAT(problem_of("llama", 3, 1), HasSubstr("3 heads"));
  EXPECT_THAT(problem_of("llama", 0, 1), HasSubstr("'llama.attention.head_count' is 0"));
  EXPECT_THAT(problem_of("llama", 2, 2000000000), HasSubstr("2000000000 layers"));
}

TEST(ModelShape, an_epsilon_that_no_norm_can_have_is_refused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  for (const float epsilon : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    auto shape = small_shape("llama");
    shape.epsilon = epsilon;
    write_small_model(path, shape, tensors_of(shape));
    const auto file = gguf::GgufFile::open(path).value();
    const auto read = read_shape(file.contents());
    ASSERT_FALSE(read) << epsilon;
    EXPECT_THAT(read.error().message(), HasSubstr("layer_norm_rms_epsilon"));
  }
}

}  // namespace
}  // namespace trilobite::modelfile
