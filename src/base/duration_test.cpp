#include "base/duration.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

using std::chrono::nanoseconds;

TEST(Duration, every_unit_is_read) {
  EXPECT_EQ(parse_duration("30s").value(), std::chrono::seconds(30));
  EXPECT_EQ(parse_duration("100ms").value(), std::chrono::milliseconds(100));
  EXPECT_EQ(parse_duration("250us").value(), std::chrono::microseconds(250));
  EXPECT_EQ(parse_duration("250µs").value(), std::chrono::microseconds(250));
  EXPECT_EQ(parse_duration("7ns").value(), nanoseconds(7));
  EXPECT_EQ(parse_duration("2m").value(), std::chrono::minutes(2));
  EXPECT_EQ(parse_duration("2min").value(), std::chrono::minutes(2));
  EXPECT_EQ(parse_duration("1.5h").value(), std::chrono::minutes(90));
  EXPECT_EQ(parse_duration("1d").value(), std::chrono::hours(24));
  EXPECT_EQ(parse_duration(" 3 s ").value(), std::chrono::seconds(3));
}

TEST(Duration, a_bare_number_is_seconds) {
  EXPECT_EQ(parse_duration("10").value(), std::chrono::seconds(10));
  EXPECT_EQ(parse_duration("0.5").value(), std::chrono::milliseconds(500));
}

TEST(Duration, what_is_not_a_duration_is_refused_and_shown) {
  for (const char* bad :
       {"", "s", "ten", "5 parsecs", "-1s", "1e400s", "nan", "inf", "1.2.3s", "200000d", "--5s"}) {
    const auto result = parse_duration(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().message().find("'" + std::string(bad) + "'"), std::string::npos);
  }
}

TEST(Duration, text_form_reads_back) {
  for (const int64_t count :
       {0LL, 1LL, 1500LL, 30'000'000'000LL, 90'000'000'000LL, 123'456'789LL}) {
    EXPECT_EQ(parse_duration(to_string(nanoseconds(count))).value().count(), count);
  }
  EXPECT_EQ(to_string(std::chrono::milliseconds(100)), "100ms");
}

TEST(Duration, human_form_has_three_digits_and_a_fitting_unit) {
  EXPECT_EQ(human_time(1.234e6), "1.23 ms");
  EXPECT_EQ(human_time(12.5), "12.5 ns");
  EXPECT_EQ(human_time(3.0e9), "3 s");
}

}  // namespace
}  // namespace trilobite
