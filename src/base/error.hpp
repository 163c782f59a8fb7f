#pragma once
// Error and Result: how every function here says that the world is not as hoped (a file, a flag, a
// sensor). A broken promise between modules is not an Error but a TRILOBITE_CHECK, which aborts.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace trilobite {

/// What kind of failure it is; the command line maps it to the exit code.
enum class ErrorKind {
  input,        ///< bad usage, malformed file, impossible request: exit code 2
  environment,  ///< the machine lacks what was asked for: exit code 3
};

/// One sentence for a person: what, where, and what to do about it.
class Error {
 public:
  explicit Error(std::string message, ErrorKind kind = ErrorKind::input)
      : message_(std::move(message)), kind_(kind) {}

  const std::string& message() const { return message_; }
  ErrorKind kind() const { return kind_; }

  /// The same error seen from one level up: "loading x.json: <message>".
  Error context(std::string_view doing) const&;

 private:
  std::string message_;
  ErrorKind kind_;
};

template <typename T>
using Result = std::expected<T, Error>;

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
