#pragma once
// Which instruction set the kernels use. Highway compiles every kernel for all of them and picks
// the best one that the machine has; here the choice is named, listed and narrowed.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite::kernels {

/// What this machine and this build have, best first; the last is always "scalar".
/// Of: avx3_dl (AVX-512 with VNNI and VBMI), avx3 (AVX-512), avx2_vnni, avx2, sse4, ssse3, scalar.
std::vector<std::string_view> available_isas();

/// All kernels of this process use `name` from now on; empty means the best one. Unknown or
/// unavailable names are errors that list the available ones. Not while a kernel runs.
Result<void> set_isa(std::string_view name);

/// The instruction set that kernels use now.
std::string_view current_isa();

/// Whether kernels that run on AVX2 may use AVX-VNNI.
bool avx_vnni_chosen();

/// Whether memory is fetched ahead into the first level of the cache. AMD's CPUs (measured: Zen 5)
/// keep many requests under way there; others are taken to have few, so that only the second level
/// can fetch from far enough to cover a slow memory. docs/adr/0003 has what was measured.
extern const bool kFetchesIntoL1;

}  // namespace trilobite::kernels
