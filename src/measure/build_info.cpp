#include "measure/build_info.hpp"

#include "trilobite_git_stamp.hpp"  // generated at every build by cmake/GitStamp.cmake

namespace trilobite {

BuildInfo build_info() {
  BuildInfo info{.compiler = TRILOBITE_COMPILER,
                 .flags = TRILOBITE_COMPILER_FLAGS,
                 .build_type = TRILOBITE_BUILD_TYPE,
                 .commit = TRILOBITE_GIT_COMMIT,
                 .dirty = TRILOBITE_GIT_DIRTY};
#ifdef __OPTIMIZE__
  info.optimized = true;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  info.sanitized = true;
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  info.sanitized = true;
#endif
#endif
  return info;
}

}  // namespace trilobite
