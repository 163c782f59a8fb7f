#pragma once
// GGUF tensors whose weights are codes with a scale for 32 columns or more, into GroupTiles, at the
// speed of memory. The weights are exactly those of the file.

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "quant/group_tiles.hpp"
#include "quant/matrix.hpp"

namespace trilobite::kernels {

/// q8_0 becomes 8 bits, the others 4. The ternary blocks are for tensors that TernaryTiles cannot
/// hold (kernels/ternary_repack.hpp).
enum class GroupBlocks { q4_0, q8_0, tq1_0, tq2_0 };

/// Columns must be whole blocks. Errors: a wrong number of bytes, a scale that is not finite, a
/// code that means nothing (which block, is said). The result does not depend on the number of
/// threads.
Result<quant::GroupTiles> repack_groups(GroupBlocks blocks, const quant::QuantizedView& packed,
                                        ThreadPool& pool);

}  // namespace trilobite::kernels
