#pragma once
// How this program was built. The figures come from CMake.

#include <string>

namespace trilobite {

struct BuildInfo {
  std::string compiler;  // "GNU 12.2.0"
  std::string flags;
  std::string build_type;  // "Release", ...
  std::string commit;      // of the source tree, empty when it is no git checkout
  bool dirty = false;      // tracked files differed from the commit
  bool optimized = false;
  bool sanitized = false;
};

BuildInfo build_info();

}  // namespace trilobite
