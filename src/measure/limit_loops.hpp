#pragma once
// The loops that find the machine's limits: how fast bytes can be streamed and arithmetic done by
// code that does nothing else. Compiled for every instruction set; the best one that is allowed
// runs.

#include <cstddef>
#include <cstdint>
#include <string>

namespace trilobite {

using ReadLoop = uint64_t (*)(const std::byte* from, size_t bytes);

/// Sizes are multiples of 4096 bytes, memory is aligned to 128 bytes.
struct LimitLoops {
  /// Ways to read `bytes`, of which the fastest tells the limit: it depends on the CPU. They return
  /// something that depends on all bytes.
  ReadLoop read[2];
  /// `streaming` stores go around the caches, as they should when the data does not fit there.
  void (*write)(std::byte* to, size_t bytes, bool streaming);
  void (*copy)(const std::byte* from, std::byte* to, size_t bytes, bool streaming);
  /// to = a + 3 b, as f32.
  void (*triad)(const std::byte* a, const std::byte* b, std::byte* to, size_t bytes,
                bool streaming);
  /// Do `rounds` rounds of register-only arithmetic and return how many operations that was.
  double (*f32_operations)(uint64_t rounds);
  double (*bf16_operations)(uint64_t rounds);
  double (*i8_operations)(uint64_t rounds);
  double (*ternary_operations)(uint64_t rounds);
};

/// For the instruction set that Highway's dispatch has now (see kernels/isa.hpp).
LimitLoops limit_loops();
/// Its name: "avx2", "avx3_dl", ...
std::string limit_loops_isa();

}  // namespace trilobite
