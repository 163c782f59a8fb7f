#include "cli/output.hpp"

#include "base/file.hpp"
#include "cli/command_line.hpp"

namespace trilobite::cli {

Result<void> deliver(const std::string& text, const std::string& output) {
  return output.empty() ? print(text) : write_file_atomically(output, text);
}

}  // namespace trilobite::cli
