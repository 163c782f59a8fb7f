#pragma once
// Returning errors (trilobite/error.hpp has the types), and TRILOBITE_CHECK for what is no error
// but a broken promise between modules: it aborts.

#include <string>
#include <string_view>
#include <utility>

#include "trilobite/error.hpp"

namespace trilobite {

/// Shorthand for `return std::unexpected(Error(...))`.
inline std::unexpected<Error> fail(std::string message, ErrorKind kind = ErrorKind::input) {
  return std::unexpected(Error(std::move(message), kind));
}

/// The failure of `result` with one more level of context, ready to be returned.
template <typename T>
std::unexpected<Error> fail_from(const Result<T>& result, std::string_view doing) {
  return std::unexpected(result.error().context(doing));
}
template <typename T>
std::unexpected<Error> fail_from(const Result<T>& result) {
  return std::unexpected(result.error());
}

namespace detail {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}

}  // namespace trilobite

/// Aborts when a promise between our own modules is broken. Never reached by user input.
#define TRILOBITE_CHECK(expression) \
  ((expression) ? void(0) : ::trilobite::detail::check_failed(#expression, __FILE__, __LINE__))
