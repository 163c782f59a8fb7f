#include "notify/curl_transfer.hpp"

#include <algorithm>

namespace trilobite::notify {
namespace {

size_t discard(char*, size_t size, size_t count, void*) { return size * count; }

}  // namespace

Result<CurlHandle> new_transfer(const std::string& url, std::chrono::nanoseconds timeout) {
  if (auto loaded = libcurl.load(); !loaded) return fail_from(loaded);
  CurlHandle handle(curl_easy_init());
  if (!handle) return fail("libcurl cannot start", ErrorKind::environment);
  const auto milliseconds =
      std::max<int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds));
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, discard);
  return handle;
}

void append(CurlList& list, const std::string& line) {
  list.reset(curl_slist_append(list.release(), line.c_str()));
}

Result<void> perform(CURL* handle) {
  const auto code = curl_easy_perform(handle);
  if (code != CURLE_OK) return fail(curl_easy_strerror(code), ErrorKind::environment);
  return {};
}

}  // namespace trilobite::notify
