#pragma once
// libcurl, loaded before the first transfer.

#include <curl/curl.h>

#include "base/lazy_library.hpp"

namespace trilobite::notify {

inline constinit const LazyLibrary libcurl("libcurl.so.4");

#define TRILOBITE_LIBCURL(name) \
  inline constinit const LazyFunction<decltype(::name)> name{libcurl, #name}
TRILOBITE_LIBCURL(curl_easy_cleanup);
TRILOBITE_LIBCURL(curl_easy_getinfo);
TRILOBITE_LIBCURL(curl_easy_init);
TRILOBITE_LIBCURL(curl_easy_perform);
TRILOBITE_LIBCURL(curl_easy_setopt);
TRILOBITE_LIBCURL(curl_easy_strerror);
TRILOBITE_LIBCURL(curl_free);
TRILOBITE_LIBCURL(curl_slist_append);
TRILOBITE_LIBCURL(curl_slist_free_all);
TRILOBITE_LIBCURL(curl_url);
TRILOBITE_LIBCURL(curl_url_cleanup);
TRILOBITE_LIBCURL(curl_url_get);
TRILOBITE_LIBCURL(curl_url_set);
#undef TRILOBITE_LIBCURL

}  // namespace trilobite::notify
