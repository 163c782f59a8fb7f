#pragma once
// One HTTP request and its answer, bounded in time and size.

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trilobite::notify {

struct HttpRequest {
  std::string method;  // GET, POST, PATCH
  std::string url;     // http:// or https://
  std::vector<std::string> headers;
  std::string body;  // none with GET
};

struct HttpAnswer {
  long status = 0;
  std::string body;
};
inline constexpr size_t kLargestAnswer = size_t{16} << 20;

/// Any answer of the server is a result, whatever its status; no answer is an error (environment).
/// Redirections are not followed.
Result<HttpAnswer> exchange(const HttpRequest& request, std::chrono::nanoseconds timeout);

/// An answer other than 2xx is an error.
Result<void> post_json(const std::string& url, const std::string& body,
                       std::chrono::nanoseconds timeout);

}  // namespace trilobite::notify
