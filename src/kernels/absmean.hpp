#pragma once
// f32 weights to ternary tiles by the absmean rule (quant/bitnet.hpp is the reference), fast enough
// to quantise a model while it is loaded.

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/ternary_weights.hpp"
#include "quant/matrix.hpp"

namespace trilobite::kernels {

struct AbsmeanTilesOptions {
  quant::TernaryForm form = quant::TernaryForm::two_bit;
  bool per_channel = false;  // one scale per row
};

/// The codes are those of quant::quantize_absmean for the same gamma. Gamma itself is summed in
/// double, row by row, and may differ from the reference's in the last place; it does not depend on
/// the number of threads. A weight that is NaN or infinite is an error.
Result<TernaryWeights> quantize_absmean_tiles(quant::MatrixView weights,
                                              const AbsmeanTilesOptions& options, ThreadPool& pool);

}  // namespace trilobite::kernels
