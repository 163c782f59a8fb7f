#include "harness/selection.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

std::vector<BenchmarkDefinition> two_suites() {
  const auto nothing = [](Bench&) {};
  return {{"alpha", "add",
           [] { return over(axis("shape", std::vector<std::string>{"2x2", "4x4"})); }, nothing},
          {"beta", "mul",
           [] { return over(axis("n", {1, 2}), axis("dtype", std::vector<std::string>{"f32"})); },
           nothing}};
}

TEST(Selection, ids_are_made_of_the_five_names_and_the_other_parameters) {
  const auto definitions = two_suites();
  const auto selected = select_benchmarks(definitions, {}).value();
  ASSERT_EQ(selected.size(), 4u);
  EXPECT_EQ(selected[0].id, "alpha/add/-/-/2x2");
  EXPECT_EQ(selected[3].id, "beta/mul/f32/-/-/n=2");
}

TEST(Selection, patterns_and_suites_narrow) {
  const auto definitions = two_suites();
  EXPECT_EQ(select_benchmarks(definitions, {.pattern = "alpha.*4x"}).value().size(), 1u);
  EXPECT_EQ(select_benchmarks(definitions, {.suites = {"beta"}}).value().size(), 2u);
  EXPECT_FALSE(select_benchmarks(definitions, {.pattern = "4x4", .suites = {"beta"}}));
}

TEST(Selection, bad_requests_are_explained) {
  const auto definitions = two_suites();
  EXPECT_NE(select_benchmarks(definitions, {.pattern = "(("})
                .error()
                .message()
                .find("not a regular expression"),
            std::string::npos);
  EXPECT_EQ(select_benchmarks(definitions, {.suites = {"gamma"}}).error().message(),
            "there is no suite 'gamma'; the suites are alpha, beta");
  EXPECT_NE(select_benchmarks(definitions, {.pattern = "nothing"})
                .error()
                .message()
                .find("no benchmark matches"),
            std::string::npos);
}

TEST(Selection, two_benchmarks_with_one_id_are_refused) {
  auto definitions = two_suites();
  definitions.push_back(definitions[0]);
  EXPECT_FALSE(select_benchmarks(definitions, {}));
}

}  // namespace
}  // namespace trilobite
