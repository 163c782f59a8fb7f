#include "cli/exit_code.hpp"

#include <fmt/format.h>

namespace trilobite::cli {

int report_error(const Error& error) {
  fmt::print(stderr, "trilobite: {}\n", error.message());
  return error.kind() == ErrorKind::environment ? kMachineLacks : kBadInput;
}

}  // namespace trilobite::cli
