#pragma once
// PostgreSQL's library, loaded when a store on a server is opened.

#include <libpq-fe.h>

#include "base/lazy_library.hpp"

namespace trilobite::store {

inline constinit const LazyLibrary libpq("libpq.so.5");

#define TRILOBITE_LIBPQ(name) \
  inline constinit const LazyFunction<decltype(::name)> name{libpq, #name}
TRILOBITE_LIBPQ(PQclear);
TRILOBITE_LIBPQ(PQconnectdbParams);
TRILOBITE_LIBPQ(PQconninfoFree);
TRILOBITE_LIBPQ(PQconninfoParse);
TRILOBITE_LIBPQ(PQdb);
TRILOBITE_LIBPQ(PQerrorMessage);
TRILOBITE_LIBPQ(PQexecParams);
TRILOBITE_LIBPQ(PQfinish);
TRILOBITE_LIBPQ(PQfreemem);
TRILOBITE_LIBPQ(PQgetisnull);
TRILOBITE_LIBPQ(PQgetlength);
TRILOBITE_LIBPQ(PQgetvalue);
TRILOBITE_LIBPQ(PQhost);
TRILOBITE_LIBPQ(PQnfields);
TRILOBITE_LIBPQ(PQntuples);
TRILOBITE_LIBPQ(PQport);
TRILOBITE_LIBPQ(PQresultErrorField);
TRILOBITE_LIBPQ(PQresultStatus);
TRILOBITE_LIBPQ(PQsetNoticeProcessor);
TRILOBITE_LIBPQ(PQstatus);
#undef TRILOBITE_LIBPQ

}  // namespace trilobite::store
