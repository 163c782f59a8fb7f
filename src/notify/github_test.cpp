#include "notify/github.hpp"

#include <gmock/gmock.h>

#include <map>

namespace trilobite::notify {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The requests themselves are tested against a server by tests/cli/ci_test.py.
Result<GitHub> with(std::map<std::string, std::string> variables) {
  return github_from([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(GitHub, is_found_in_the_environment) {
  const auto github = with({{"GITHUB_TOKEN", "t0ken"}, {"GITHUB_REPOSITORY", "owner/name"}});
  ASSERT_TRUE(github) << github.error().message();
  EXPECT_EQ(github->api_url, "https://api.github.com");
  EXPECT_EQ(with({{"GITHUB_TOKEN", "t"},
                  {"GITHUB_REPOSITORY", "o/n"},
                  {"GITHUB_API_URL", "http://127.0.0.1:8080//"}})
                ->api_url,
            "http://127.0.0.1:8080");
}

TEST(GitHub, what_is_missing_or_malformed_is_named_and_the_token_is_not) {
  const auto refused = [](std::map<std::string, std::string> variables) {
    const auto github = with(std::move(variables));
    EXPECT_FALSE(github);
    if (github) return std::string();
    EXPECT_EQ(github.error().kind(), ErrorKind::environment);
    EXPECT_THAT(github.error().message(), Not(HasSubstr("s3cret")));
    return github.error().message();
  };
  const std::string token = "s3cret";
  EXPECT_THAT(refused({{"GITHUB_REPOSITORY", "o/n"}}), HasSubstr("GITHUB_TOKEN"));
  EXPECT_THAT(refused({{"GITHUB_TOKEN", token}}), HasSubstr("GITHUB_REPOSITORY"));
  for (const auto* bad : {"o", "o/n/x", "o/n?a", "../..%2f", "o/n\r\n"})
    EXPECT_THAT(refused({{"GITHUB_TOKEN", token}, {"GITHUB_REPOSITORY", bad}}),
                HasSubstr("owner/name"));
  EXPECT_THAT(refused({{"GITHUB_TOKEN", "s3cret\r\nX: y"}, {"GITHUB_REPOSITORY", "o/n"}}),
              HasSubstr("GITHUB_TOKEN"));
  for (const auto* bad : {"ftp://x", " ", "http://", "http://example.org",
                          "http://localhost@example.org", "http://127.0.0.1.example.org"}) {
    EXPECT_THAT(
        refused({{"GITHUB_TOKEN", token}, {"GITHUB_REPOSITORY", "o/n"}, {"GITHUB_API_URL", bad}}),
        HasSubstr("GITHUB_API_URL"));
  }
}

}  // namespace
}  // namespace trilobite::notify
