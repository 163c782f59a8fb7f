#include "device/device_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace trilobite {
namespace {

using testing::HasSubstr;

TEST(DeviceList, names_are_unique_and_the_reference_is_first) {
  std::set<std::string_view> names;
  for (const auto& entry : all_devices()) EXPECT_TRUE(names.insert(entry.name).second);
  EXPECT_EQ(all_devices().front().name, "reference");
}

TEST(DeviceList, a_device_is_either_usable_or_says_what_is_missing) {
  for (const auto& entry : all_devices()) {
    SCOPED_TRACE(entry.name);
    const auto reason = entry.why_unavailable();
    const auto device = open_device(entry.name, {});
    EXPECT_EQ(device.has_value(), reason.empty());
    if (device) {
      EXPECT_EQ((*device)->name(), entry.name);
      EXPECT_FALSE((*device)->description().empty());
    } else {
      EXPECT_EQ(device.error().kind(), ErrorKind::environment);
      EXPECT_THAT(device.error().message(), HasSubstr(reason));
    }
  }
}

TEST(DeviceList, absurd_thread_counts_are_input_errors) {
  for (const DeviceOptions& options :
       {DeviceOptions{.threads = 0}, DeviceOptions{.threads = 1'000'000}}) {
    const auto device = open_device("reference", options);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().kind(), ErrorKind::input);
  }
}

TEST(DeviceList, an_unknown_name_is_an_input_error_that_lists_the_known_ones) {
  const auto device = open_device("gpu", {});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind(), ErrorKind::input);
  EXPECT_THAT(device.error().message(), HasSubstr("there is no device 'gpu'; known are reference"));
}

}  // namespace
}  // namespace trilobite
