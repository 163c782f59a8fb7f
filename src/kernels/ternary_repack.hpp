#pragma once
// Ternary tensors of model files into TernaryTiles, at the speed of memory: what loading a model
// spends its time in. The weights are exactly those of the file.

#include <optional>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/ternary_tile.hpp"
#include "kernels/ternary_weights.hpp"
#include "quant/i2s.hpp"
#include "quant/matrix.hpp"

namespace trilobite::kernels {

/// The ternary block formats of GGUF; each block of 256 columns has an f16 scale.
enum class TernaryBlocks { tq1_0, tq2_0 };

/// One scale when all rows agree on it, else one per row. Blocks in which every weight is 0 agree
/// with any scale. No value: within some row the scales differ, which TernaryTiles cannot hold;
/// repack_groups can. Errors: a wrong number of bytes, a scale that is not finite, code 3 (which
/// block, is said). The result does not depend on the number of threads.
Result<std::optional<TernaryWeights>> repack_ternary_blocks(TernaryBlocks blocks,
                                                            const quant::QuantizedView& packed,
                                                            quant::TernaryForm form,
                                                            ThreadPool& pool);

/// bitnet.cpp's tensor, which has one scale. Errors as quant::unpack_i2s has them.
Result<TernaryWeights> repack_i2s(quant::I2sLayout layout, const quant::QuantizedView& packed,
                                  quant::TernaryForm form, ThreadPool& pool);

/// Rows of a tensor of tq2_0 or i2s_block128 whose codes have been looked at, on the caller's
/// thread: for products of many tokens with weights that stay in the file.
Result<quant::TernaryTiles> tile_ternary_rows(TernaryCodes codes, const quant::QuantizedView& rows);

}  // namespace trilobite::kernels
