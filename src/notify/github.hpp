#pragma once
// Tells a repository on GitHub (or a server with its API) about a result: a comment on a pull
// request, an issue. Both are written once and renewed afterwards, so that nothing piles up. The
// token is in no message of ours.

#include <chrono>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace trilobite::notify {

struct GitHub {
  std::string api_url;     // https://api.github.com; http:// for this machine only
  std::string repository;  // owner/name
  std::string token;
  std::chrono::nanoseconds timeout = std::chrono::seconds(20);  // of each request
};

/// From GITHUB_API_URL (default https://api.github.com), GITHUB_REPOSITORY and GITHUB_TOKEN;
/// `variable` returns nullptr for what is not set. What is missing or malformed is an error
/// (environment).
Result<GitHub> github_from(const std::function<const char*(const char*)>& variable);

/// `marker` is a Markdown comment ("<!-- ... -->") that our text begins with: the comment that has
/// it already is replaced. Text above GitHub's limit is cut at a line.
struct Message {
  std::string marker;
  std::string title;  // of an issue
  std::string text;
};
Result<void> comment_on_pull_request(const GitHub& github, uint64_t number, const Message& message);

/// Opens an issue with `label`; while one with this label and marker is open, comments on that.
Result<void> raise_issue(const GitHub& github, const std::string& label, const Message& message);

}  // namespace trilobite::notify
