#include "base/lazy_library.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

constinit const LazyLibrary libm("libm.so.6");
constinit const LazyFunction<double(double)> cube_root(libm, "cbrt");

TEST(LazyLibrary, its_functions_are_called_as_if_it_were_linked) {
  ASSERT_TRUE(libm.load());
  ASSERT_TRUE(libm.load());  // again: nothing happens
  EXPECT_DOUBLE_EQ(cube_root(27.0), 3.0);
}

TEST(LazyLibrary, also_with_a_variable_number_of_arguments) {
  const LazyLibrary libc("libc.so.6");
  const LazyFunction<int(char*, size_t, const char*, ...)> print(libc, "snprintf");
  ASSERT_TRUE(libc.load());
  char text[16];
  EXPECT_EQ(print(text, sizeof text, "%d-%s", 7, "x"), 3);
  EXPECT_STREQ(text, "7-x");
}

TEST(LazyLibrary, one_that_is_missing_is_named) {
  const LazyLibrary missing("libtrilobite-is-not-here.so.1");
  const auto loaded = missing.load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind(), ErrorKind::environment);
  EXPECT_NE(loaded.error().message().find("libtrilobite-is-not-here.so.1"), std::string::npos);
}

}  // namespace
}  // namespace trilobite
