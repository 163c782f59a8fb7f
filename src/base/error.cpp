#include "base/error.hpp"

#include <unistd.h>

#include <cstdlib>

namespace trilobite {

Error Error::context(std::string_view doing) const& {
  std::string message(doing);
  message += ": ";
  message += message_;
  return Error(std::move(message), kind_);
}

namespace detail {

void check_failed(const char* expression, const char* file, int line) {
  // write(2), because nothing else may be relied upon here.
  const std::string text = std::string("trilobite: internal check failed: ") + expression + " (" +
                           file + ":" + std::to_string(line) + "); please report this\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace detail
}  // namespace trilobite
