#include "model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/temporary_folder_for_test.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::model {
namespace {

using gguf::Writer;
using testing::HasSubstr;

/// What is read from a small model with these keys besides.
template <typename Fill>
Result<ModelConfig> read_with(std::string architecture, Fill fill) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.gguf";
  const auto shape = modelfile::small_shape(std::move(architecture));
  modelfile::write_small_model(path, shape, modelfile::tensors_of(shape), fill);
  return read_config(gguf::GgufFile::open(path)->contents());
}

template <typename Fill>
std::string problem_with(std::string architecture, Fill fill) {
  const auto config = read_with(std::move(architecture), fill);
  return config ? "fine" : config.error().message();
}

template <typename Fill>
double position_factor(Fill fill) {
  const auto config = read_with("llama", fill);
  return config ? config->rope->position_factor : std::nan("");
}

TEST(ModelConfig, scaling_of_rope_is_linear_unless_the_file_says_otherwise) {
  EXPECT_EQ(position_factor([](Writer&) {}), 1.0);
  EXPECT_EQ(position_factor([](Writer& w) { w.set_f32("llama.rope.scaling.factor", 4); }), 0.25);
  EXPECT_EQ(position_factor([](Writer& w) { w.set_f32("llama.rope.scale_linear", 4); }), 0.25);
  EXPECT_EQ(position_factor([](Writer& w) {
              w.set_f32("llama.rope.scale_linear", 4);
              w.set_f32("llama.rope.scaling.factor", 2);
            }),
            0.5);
  EXPECT_EQ(position_factor([](Writer& w) { w.set_f32("llama.rope.scaling.factor", 0); }), 1.0);
  EXPECT_EQ(position_factor([](Writer& w) {
              w.set_text("llama.rope.scaling.type", "none");
              w.set_f32("llama.rope.scaling.factor", 4);
            }),
            1.0);
}

TEST(ModelConfig, what_would_be_computed_otherwise_is_refused) {
  const auto with_text = [](const char* key, const char* text) {
    return problem_with("llama", [&](Writer& w) { w.set_text(key, text); });
  };
  const auto with_number = [](const char* key, float number) {
    return problem_with("llama", [&](Writer& w) { w.set_f32(key, number); });
  };
  const auto with_integer = [](const char* architecture, const char* key, uint32_t number) {
    return problem_with(architecture, [&](Writer& w) { w.set_u32(key, number); });
  };
  EXPECT_THAT(with_text("llama.rope.scaling.type", "yarn"), HasSubstr("'yarn' is not supported"));
  EXPECT_THAT(with_integer("llama", "llama.rope.scaling.type", 1), HasSubstr("should be text"));
  EXPECT_THAT(with_number("llama.rope.scaling.attn_factor", 2), HasSubstr("attn_factor"));
  EXPECT_THAT(with_number("llama.rope.scaling.factor", -1), HasSubstr("scaling.factor' is -1"));
  EXPECT_THAT(with_number("llama.rope.freq_base", 0), HasSubstr("base of RoPE"));
  EXPECT_THAT(with_integer("llama", "llama.rope.dimension_count", 3), HasSubstr("turns 3"));
  EXPECT_THAT(with_integer("llama", "llama.rope.dimension_count", 6), HasSubstr("heads of 4"));
  EXPECT_EQ(with_integer("llama", "llama.rope.dimension_count", 2), "fine");
  EXPECT_THAT(with_integer("llama", "llama.attention.value_length", 2), HasSubstr("lengths"));
  EXPECT_THAT(with_integer("bert", "bert.pooling_type", 3), HasSubstr("pooling_type"));
}

TEST(ModelConfig, attention_that_looks_the_other_way_is_refused_by_name) {
  const auto with_causal = [](std::string architecture, bool causal) {
    const auto key = architecture + ".attention.causal";
    return problem_with(architecture, [&](Writer& w) { w.set_bool(key, causal); });
  };
  EXPECT_EQ(with_causal("llama", true), "fine");
  EXPECT_EQ(with_causal("bert", false), "fine");
  EXPECT_THAT(with_causal("llama", false), HasSubstr("'llama.attention.causal' is false"));
  EXPECT_THAT(with_causal("bert", true), HasSubstr("'bert.attention.causal' is true"));
  EXPECT_THAT(problem_with("llama", [](Writer& w) { w.set_u32("llama.attention.causal", 0); }),
              HasSubstr("true or false"));
}

}  // namespace
}  // namespace trilobite::model
