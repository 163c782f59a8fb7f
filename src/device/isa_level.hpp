#pragma once
// Instruction sets under the names that `--isa` takes, for devices that stand on a library: each
// maps these few levels to what its library calls them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.hpp"
#include "base/error.hpp"

namespace trilobite {

/// Ascending; each contains the ones before it.
enum class IsaLevel : uint8_t {
  baseline,  // what the compiler may use without asking: SSE2 on x86-64
  sse4,
  avx2,     // with FMA and F16C
  avx3,     // AVX-512 F, CD, BW, DQ, VL
  avx3_dl,  // with VNNI and VBMI
};

std::string_view name_of(IsaLevel level);

/// The levels that this processor has, ascending; baseline always.
std::vector<IsaLevel> levels_of(const CpuInfo& cpu);

/// The level called `name`, the highest one when it is empty. Unknown names are input errors,
/// levels that the processor lacks are environment errors; both list what there is.
Result<IsaLevel> choose_level(std::string_view name, const CpuInfo& cpu);

/// What a processor has of the features that decide how fast products are, as the kernel spells
/// them: "fma f16c avx512_vnni".
std::string product_features(const CpuInfo& cpu);

}  // namespace trilobite
