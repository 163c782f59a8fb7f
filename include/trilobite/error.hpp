#pragma once
// Error and Result: how every function of Trilobite says that the world is not as hoped (a file, a
// flag, a sensor).

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

}  // namespace trilobite
