#include "stats/false_discovery.hpp"

#include <gmock/gmock.h>

namespace trilobite::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.5])
TEST(FalseDiscovery, agrees_with_scipy) {
  const auto near = [](double value) { return DoubleNear(value, 1e-12); };
  EXPECT_THAT(adjusted_p_values(std::vector<double>{0.01, 0.04, 0.03, 0.5}),
              ElementsAre(near(0.04), near(0.16 / 3), near(0.16 / 3), near(0.5)));
}

TEST(FalseDiscovery, one_test_is_left_as_it_is) {
  EXPECT_THAT(adjusted_p_values(std::vector<double>{0.2}), ElementsAre(0.2));
  EXPECT_TRUE(adjusted_p_values({}).empty());
}

}  // namespace
}  // namespace trilobite::stats
