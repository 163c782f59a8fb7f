#pragma once
// PostgreSQL's library, loaded when a store on a server is opened.

#include <libpq-fe.h>

#include "base/lazy_library.hpp"

namespace trilobite::store {

inline constinit const LazyLibrary libpq("libpq.so.5");

TRILOBITE_LAZY_FUNCTION(libpq, PQclear);
TRILOBITE_LAZY_FUNCTION(libpq, PQconnectdbParams);
TRILOBITE_LAZY_FUNCTION(libpq, PQconninfoFree);
TRILOBITE_LAZY_FUNCTION(libpq, PQconninfoParse);
TRILOBITE_LAZY_FUNCTION(libpq, PQdb);
TRILOBITE_LAZY_FUNCTION(libpq, PQerrorMessage);
TRILOBITE_LAZY_FUNCTION(libpq, PQexecParams);
TRILOBITE_LAZY_FUNCTION(libpq, PQfinish);
TRILOBITE_LAZY_FUNCTION(libpq, PQfreemem);
TRILOBITE_LAZY_FUNCTION(libpq, PQgetisnull);
TRILOBITE_LAZY_FUNCTION(libpq, PQgetlength);
TRILOBITE_LAZY_FUNCTION(libpq, PQgetvalue);
TRILOBITE_LAZY_FUNCTION(libpq, PQhost);
TRILOBITE_LAZY_FUNCTION(libpq, PQnfields);
TRILOBITE_LAZY_FUNCTION(libpq, PQntuples);
TRILOBITE_LAZY_FUNCTION(libpq, PQport);
TRILOBITE_LAZY_FUNCTION(libpq, PQresultErrorField);
TRILOBITE_LAZY_FUNCTION(libpq, PQresultStatus);
TRILOBITE_LAZY_FUNCTION(libpq, PQsetNoticeProcessor);
TRILOBITE_LAZY_FUNCTION(libpq, PQstatus);

}  // namespace trilobite::store
