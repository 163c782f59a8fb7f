#pragma once
// Where the answer of a command goes.

#include <string>

#include "base/error.hpp"

namespace trilobite::cli {

/// To the file `output`, atomically, or to standard output when `output` is empty.
Result<void> deliver(const std::string& text, const std::string& output);

}  // namespace trilobite::cli
