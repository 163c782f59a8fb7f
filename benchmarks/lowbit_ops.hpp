#pragma once
// The low-bit operations of `trilobite compare`: quantize and dequantize a matrix of BitNet b1.58
// weights, and a BitLinear layer. The devices `reference` and `cpu` have them.

#include <string>
#include <vector>

#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {

/// quantize, dequantize, bitlinear.
const std::vector<std::string>& lowbit_op_names();

/// The benchmark of `operation` for the parameters of `p`. The shape RxC is that of the weights for
/// quantize and dequantize; for bitlinear it is R tokens through C x C weights.
void run_lowbit_op(Bench& p, const std::string& operation);

}  // namespace trilobite::benchmarks
