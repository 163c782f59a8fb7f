#include "device/onednn/onednn_threads.hpp"

#include <dlfcn.h>

namespace trilobite {

void set_openmp_threads(unsigned threads) {
  using SetThreads = void(int);
  static auto* const set =
      reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(static_cast<int>(threads));
}

}  // namespace trilobite
