#pragma once
// libcurl, loaded before the first transfer.

#include <curl/curl.h>

#include "base/lazy_library.hpp"

namespace trilobite::notify {

inline constinit const LazyLibrary libcurl("libcurl.so.4");

TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_cleanup);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_getinfo);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_init);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_perform);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_setopt);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_easy_strerror);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_free);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_slist_append);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_slist_free_all);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_url);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_url_cleanup);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_url_get);
TRILOBITE_LAZY_FUNCTION(libcurl, curl_url_set);

}  // namespace trilobite::notify
