#include "quant/mixed_precision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trilobite::quant {
namespace {

using testing::HasSubstr;

Result<PrecisionPlan> read_plan(const char* text) {
  return precision_plan_from_json(parse_json(text).value());
}

std::string problem_of(const char* text) {
  const auto plan = read_plan(text);
  return plan ? "none" : plan.error().message();
}

constexpr const char* kPlan = R"({
  "default": "bitnet",
  "layers": [
    {"pattern": "*norm*", "scheme": "fp32"},
    {"pattern": "token_embd.weight", "scheme": "q6_k"},
    {"pattern": "blk.?.attn_*", "scheme": "int8-g64"}
  ]})";

TEST(MixedPrecision, the_first_pattern_that_matches_decides) {
  const auto plan = read_plan(kPlan).value();
  EXPECT_EQ(scheme_for(plan, "blk.3.attn_q.weight").name, "int8-g64");
  EXPECT_EQ(scheme_for(plan, "blk.3.attn_norm.weight").name, "fp32");
  EXPECT_EQ(scheme_for(plan, "token_embd.weight").name, "q6_k");
  EXPECT_EQ(scheme_for(plan, "blk.12.attn_q.weight").name, "bitnet");
}

TEST(MixedPrecision, stars_and_question_marks) {
  EXPECT_TRUE(pattern_matches("*", ""));
  EXPECT_TRUE(pattern_matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(pattern_matches("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(pattern_matches("a?c", "abc"));
  EXPECT_FALSE(pattern_matches("a?c", "ac"));
  EXPECT_FALSE(pattern_matches("abc", "abcd"));
  EXPECT_TRUE(pattern_matches("abc**", "abc"));
  EXPECT_FALSE(pattern_matches("", "a"));
  EXPECT_TRUE(pattern_matches("*.weight", "x.weight.weight"));
  // Exponential matchers would not come back from this one.
  EXPECT_FALSE(pattern_matches("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(MixedPrecision, bytes_and_bits_are_those_of_the_schemes) {
  const auto plan = read_plan(kPlan).value();
  const LayerShape layers[] = {{"token_embd.weight", 1000, 256},
                               {"output_norm.weight", 1, 256},
                               {"blk.0.ffn_up.weight", 512, 256}};
  const auto cost = cost_of(plan, layers).value();
  ASSERT_EQ(cost.layers.size(), 3u);
  EXPECT_EQ(cost.layers[0].bytes, 210'000u);
  EXPECT_DOUBLE_EQ(cost.layers[0].bits_per_weight, 6.5625);
  EXPECT_EQ(cost.layers[1].bytes, 1024u);
  EXPECT_EQ(cost.layers[2].bytes, 512u * 64 + 4);
  EXPECT_EQ(cost.bytes, 210'000u + 1024 + 512 * 64 + 4);
  EXPECT_EQ(cost.weights, 256u * 1513);
  EXPECT_DOUBLE_EQ(cost.bits_per_weight, 8.0 * static_cast<double>(cost.bytes) / (256.0 * 1513));
  EXPECT_EQ(cost_of(plan, {}).value().bits_per_weight, 0);
}

TEST(MixedPrecision, a_layer_that_its_scheme_cannot_hold_is_named) {
  const auto plan = read_plan(kPlan).value();
  const LayerShape narrow[] = {{"token_embd.weight", 10, 100}};
  EXPECT_EQ(
      cost_of(plan, narrow).error().message(),
      "layer 'token_embd.weight': q6_k packs blocks of 256 columns, and 100 is no multiple of "
      "that");
  const LayerShape endless[] = {{"a", size_t{1} << 59, 1}, {"b", size_t{1} << 59, 1}};
  EXPECT_TRUE(cost_of(plan, endless));
  std::vector<LayerShape> many(20, {"norm", size_t{1} << 59, 1});
  EXPECT_THAT(cost_of(plan, many).error().message(), HasSubstr("too large"));
}

TEST(MixedPrecision, mistakes_are_one_clear_sentence) {
  EXPECT_THAT(problem_of(R"({"default": "bitnett"})"),
              HasSubstr("plan.default: unknown quantization scheme 'bitnett'; there are fp32, "));
  EXPECT_THAT(problem_of(R"({})"), HasSubstr("plan.default"));
  EXPECT_THAT(problem_of(R"([])"), HasSubstr("plan"));
  EXPECT_THAT(problem_of(R"({"default": "int8", "layer": []})"), HasSubstr("layer"));
  EXPECT_THAT(problem_of(R"({"default": "int8", "layers": {}})"), HasSubstr("plan.layers"));
  EXPECT_THAT(problem_of(R"({"default": "int8", "layers": [{"scheme": "int4"}]})"),
              HasSubstr("plan.layers[0].pattern"));
  EXPECT_THAT(problem_of(R"({"default": "int8", "layers": [{"pattern": "a", "scheme": "int3"}]})"),
              HasSubstr("plan.layers[0].scheme: unknown quantization scheme 'int3'"));
  EXPECT_THAT(problem_of(R"({"default": "int8", "layers": [{"pattern": "", "scheme": "int4"}]})"),
              HasSubstr("plan.layers[0].pattern: must not be empty"));
  EXPECT_THAT(
      problem_of(
          R"({"default": "int8", "layers": [{"pattern": "blk\\.[0-9]", "scheme": "int4"}]})"),
      HasSubstr("plan.layers[0].pattern: holds '\\'; a pattern knows only"));
}

TEST(MixedPrecision, a_rule_that_is_never_reached_is_a_mistake) {
  EXPECT_EQ(problem_of(R"({"default": "int8", "layers": [{"pattern": "*", "scheme": "int4"},
                           {"pattern": "blk.*", "scheme": "fp16"}]})"),
            "plan.layers[1].pattern: 'blk.*' is never reached, '*' above it takes all its layers");
  EXPECT_EQ(problem_of(R"({"default": "int8", "layers": [{"pattern": "blk.*", "scheme": "int4"},
                           {"pattern": "*", "scheme": "fp16"}]})"),
            "none");
  // More names than the rule above it takes, although its text fits that rule.
  EXPECT_EQ(problem_of(R"({"default": "int8", "layers": [{"pattern": "blk.?.up", "scheme": "int4"},
                           {"pattern": "blk.*.up", "scheme": "fp16"}]})"),
            "none");
}

}  // namespace
}  // namespace trilobite::quant
