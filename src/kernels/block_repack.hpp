#pragma once
// GGUF tensors of q4_1, q4_k and q6_k into BlockTiles, at the speed of memory. The weights are
// exactly those of the file.

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "quant/block_tiles.hpp"
#include "quant/matrix.hpp"

namespace trilobite::kernels {

/// Columns must be whole blocks. Errors: a wrong number of bytes, a scale or minimum that is not
/// finite (which block, is said). The result does not depend on the number of threads.
Result<quant::BlockTiles> repack_blocks(quant::TiledBlocks format,
                                        const quant::QuantizedView& packed, ThreadPool& pool);

}  // namespace trilobite::kernels
