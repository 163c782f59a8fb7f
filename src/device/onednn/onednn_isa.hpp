#pragma once
// Which instruction set oneDNN uses: what to call it, and how to narrow it.

#include <dnnl.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite {

/// "AVX-512 with VNNI", ...
std::string_view onednn_isa_text(dnnl::cpu_isa isa);

/// Lets the library use no more than the level that `--isa` calls so; everything when it is empty.
/// It can be narrowed once per process, before the first primitive.
Result<void> narrow_onednn_isa(const std::string& isa);

}  // namespace trilobite
