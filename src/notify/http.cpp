#include "notify/http.hpp"

#include <fmt/format.h>

#include "notify/curl_transfer.hpp"

namespace trilobite::notify {
namespace {

/// Taking less than was offered makes libcurl give up.
size_t keep(char* data, size_t size, size_t count, void* context) {
  auto& body = *static_cast<std::string*>(context);
  if (body.size() + size * count > kLargestAnswer) return 0;
  body.append(data, size * count);
  return size * count;
}

}  // namespace

Result<HttpAnswer> exchange(const HttpRequest& request, std::chrono::nanoseconds timeout) {
  const auto handle = new_transfer(request.url, timeout);
  if (!handle) return fail_from(handle);
  CURL* const curl = handle->get();
  CurlList headers;
  for (const auto& header : request.headers) append(headers, header);
  HttpAnswer answer;
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  if (request.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (auto done = perform(curl); !done) return fail_from(done);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

Result<void> post_json(const std::string& url, const std::string& body,
                       std::chrono::nanoseconds timeout) {
  const auto answer = exchange({"POST", url, {"Content-Type: application/json"}, body}, timeout);
  if (!answer) return fail_from(answer);
  if (answer->status < 200 || answer->status > 299)
    return fail(fmt::format("the server answered {}", answer->status), ErrorKind::environment);
  return {};
}

}  // namespace trilobite::notify
