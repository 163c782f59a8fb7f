#pragma once
// The OpenBLAS library itself: found at run time, told which kernels to use before it starts.
// Debian's 0.3.21 does not know recent processors and would silently take kernels from 2004.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_info.hpp"
#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "device/isa_level.hpp"

namespace trilobite {

/// Values of the CBLAS interface.
enum CblasOrder : int { kCblasRowMajor = 101 };
enum CblasTranspose : int { kCblasNoTrans = 111, kCblasTrans = 112 };

/// The functions that we use, with the prototypes of cblas.h (32-bit indices). The optional ones
/// are nullptr in builds that lack them.
struct OpenblasFunctions {
  char* (*get_corename)();
  char* (*get_config)();
  int (*get_num_threads)();
  void (*set_num_threads)(int);
  void (*sgemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
  void (*sgemv)(CblasOrder, CblasTranspose, int m, int n, float alpha, const float* a, int lda,
                const float* x, int incx, float beta, float* y, int incy);
  void (*saxpy)(int n, float alpha, const float* x, int incx, float* y, int incy);
  void (*scopy)(int n, const float* x, int incx, float* y, int incy);
  void (*somatcopy)(CblasOrder, CblasTranspose, int rows, int columns, float alpha, const float* a,
                    int lda, float* b, int ldb);
  float (*ssum)(int n, const float* x, int incx);  // optional
  void (*sbgemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha,
                 const uint16_t* a, int lda, const uint16_t* b, int ldb, float beta, float* c,
                 int ldc);  // optional
};

struct OpenblasLibrary {
  SharedLibrary handle;
  OpenblasFunctions functions;
  std::string wanted_core;  // empty when the library was left to choose
  bool ssum_is_wrong;       // it has the function, but sums_correctly says no
};

/// Adds up a few numbers whose sum is known. Debian's 0.3.21 fails: the AVX-512 kernels of ssum add
/// the third quarter of their vector three times and leave out the second and the fourth.
bool sums_correctly(float (*ssum)(int n, const float* x, int incx));

/// The core types to ask for at this level, best first; empty where the library chooses well.
std::vector<std::string> openblas_cores(IsaLevel level, const CpuInfo& cpu);

/// Empty when the library is installed, else what to install.
std::string why_no_openblas();

/// Loads the library with the kernels for `level`, unless the environment names a core type. The
/// choice is fixed as long as the library is loaded, so a second open must ask for the same.
Result<OpenblasLibrary> load_openblas(IsaLevel level, unsigned threads);

}  // namespace trilobite
