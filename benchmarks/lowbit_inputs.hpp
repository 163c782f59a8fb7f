#pragma once
// What the suites of low-bit products share: shapes, weights that do not fit the caches, quantised
// activations, threads.

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/ternary_product.hpp"
#include "quant/matrix.hpp"
#include "quant/ternary_tiles.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {

/// Outputs x inputs of the matrices in a layer of the 2B model.
inline const std::vector<std::string> kModelShapes{"2560x2560", "640x2560", "6912x2560",
                                                   "2560x6912"};

struct MatrixShape {
  size_t rows;
  size_t columns;
};
Result<MatrixShape> matrix_shape(const std::string& text);

struct RandomStream {
  uint64_t seed;
  uint64_t stream;
};
/// Uniform in [-1, 1).
std::vector<float> uniform_values(size_t count, RandomStream from);

/// "ternary-2.0" or "ternary-1.6".
quant::TernaryForm form_of(const std::string& dtype);

/// The instruction sets that this machine has.
std::vector<std::string> isa_names();

/// Narrows the kernels to the benchmark's instruction set: the parameter `isa` if it has one. False
/// when the benchmark was skipped, because the command line asks for another one.
bool use_isa_of(Bench& p);

/// Threads that all benchmarks of a process share.
ThreadPool& shared_pool(unsigned threads);

/// Int8 activations with random codes and scale 1.
class RandomActivations {
 public:
  RandomActivations(size_t tokens, size_t columns, size_t padded_columns, uint64_t seed);
  kernels::Int8Rows rows() const;
  int8_t at(size_t token, size_t column) const { return codes_[token * stride_ + column]; }

 private:
  size_t stride_;
  std::vector<int8_t> codes_;
  std::vector<float> scales_;
  std::vector<int32_t> sums_;
};

/// Copies of one random matrix, used in turn: together they are four times the last-level cache, so
/// that each use finds its weights in memory, as decoding a model does.
class WeightsInTurn {
 public:
  static Result<WeightsInTurn> create(MatrixShape shape, quant::TernaryForm form, bool in_cache);
  const quant::TernaryTiles& next() { return copies_[turn_++ % copies_.size()]; }
  const quant::TernaryTiles& any() const { return copies_.front(); }
  double total_bytes() const {
    return static_cast<double>(any().bytes()) * static_cast<double>(copies_.size());
  }

 private:
  std::vector<quant::TernaryTiles> copies_;
  size_t turn_ = 0;
};

/// A matrix as a model file has it: a quantised strip of rows, over and over until there are enough
/// (quantising all of them would take longer than the measurement).
struct PackedTensor {
  quant::QuantizedMatrix one;  // the strip
  std::vector<uint8_t> bytes;
  quant::QuantizedView view;

  /// Rows must be a multiple of 64.
  static Result<PackedTensor> create(const std::string& scheme, MatrixShape shape, uint64_t seed);
};

}  // namespace trilobite::benchmarks
