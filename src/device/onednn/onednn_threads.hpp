#pragma once

namespace trilobite {

/// How many threads oneDNN uses for calls of this thread: OpenMP's own count, which the library
/// asks; without linking OpenMP ourselves.
void set_openmp_threads(unsigned threads);

}  // namespace trilobite
