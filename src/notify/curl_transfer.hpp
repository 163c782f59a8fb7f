#pragma once
// What every transfer with libcurl needs: a handle that is freed, a time limit, no signals.

#include <chrono>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "notify/libcurl.hpp"

namespace trilobite::notify {

struct CurlCleanup {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlCleanup>;
using CurlList = std::unique_ptr<curl_slist, CurlCleanup>;

/// A handle that discards what the server says. Redirections are not followed.
Result<CurlHandle> new_transfer(const std::string& url, std::chrono::nanoseconds timeout);
void append(CurlList& list, const std::string& line);
Result<void> perform(CURL* handle);

}  // namespace trilobite::notify
