// Suite lowbit, operations on weights in groups of 32 columns, our own (int4, int6, int8) and those
// of model files (q4_1, q4_k, q6_k): f32 activations in, f32 out, quantising the activations
// included. One iteration multiplies by one of several matrices, so many that none of them is still
// in a cache when its turn comes again.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/cpu_info.hpp"
#include "base/rng.hpp"
#include "base/thread_pool.hpp"
#include "kernels/block_product.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/group_absmax.hpp"
#include "kernels/group_product.hpp"
#include "kernels/isa.hpp"
#include "lowbit_inputs.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {
namespace {

using quant::BlockTiles;
using quant::GroupBits;
using quant::GroupTiles;
using quant::kGroupColumns;

/// Random codes and scales, from a table: a fresh group for each would take longer than the
/// measurement. Its length is a prime, so neither rows nor columns repeat.
class GroupTable {
 public:
  GroupTable(GroupBits bits, uint64_t seed) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      Rng rng(seed, i);
      auto& group = groups_[i];
      group.scale = Float16::from(0.002f * rng.normal());
      const int half = quant::half_range(bits);
      for (auto& code : group.codes) {
        code = static_cast<int8_t>(static_cast<int>(rng.below(2 * static_cast<uint64_t>(half))) -
                                   half);
      }
    }
  }
  const quant::WeightGroup& at(size_t i) const { return groups_[i % groups_.size()]; }

 private:
  std::array<quant::WeightGroup, 1021> groups_;
};

struct Size {
  size_t rows;
  size_t columns;
  size_t tokens;
};

/// Matrices of random weights, as many as together are four times as large as the last cache.
template <class Tiles, class Make>
Result<std::vector<Tiles>> make_matrices(const Make& make) {
  const size_t enough = 4 * read_cpu_info().last_level_cache_bytes();
  std::vector<Tiles> matrices;
  do {
    auto tiles = make(matrices.size());
    if (!tiles) return fail_from(tiles);
    matrices.push_back(*std::move(tiles));
  } while (matrices.size() * matrices[0].bytes() < enough);
  return matrices;
}

Result<std::vector<GroupTiles>> random_groups(GroupBits bits, Size size, uint64_t seed) {
  const GroupTable table(bits, seed);
  return make_matrices<GroupTiles>([&](size_t start) {
    auto tiles = GroupTiles::create(size.rows, size.columns, bits);
    if (!tiles) return tiles;
    const size_t groups = tiles->groups();
    for (size_t i = 0; i < size.rows * groups; ++i) {
      tiles->set_group(i / groups, i % groups, table.at(start + i));
    }
    return tiles;
  });
}

Result<std::vector<BlockTiles>> random_blocks(quant::TiledBlocks format, Size size, uint64_t seed) {
  const auto packed =
      PackedTensor::create(std::string(name_of(format)), {size.rows, size.columns}, seed);
  if (!packed) return fail_from(packed);
  ThreadPool pool(1);
  return make_matrices<BlockTiles>(
      [&](size_t) { return kernels::repack_blocks(format, packed->view, pool); });
}

void multiply_panels(const kernels::GroupCall& call, size_t first, size_t last) {
  kernels::group_product(call, first, last);
}
void multiply_panels(const kernels::BlockCall& call, size_t first, size_t last) {
  kernels::block_product(call, first, last);
}
std::string_view kernel_name(const GroupTiles&) { return "group_product"; }
std::string_view kernel_name(const BlockTiles&) { return "block_product"; }
template <class Tiles>
using CallOf =
    std::conditional_t<std::is_same_v<Tiles, GroupTiles>, kernels::GroupCall, kernels::BlockCall>;

/// The matrices, and the memory to multiply.
template <class Tiles>
struct Problem {
  Problem(std::vector<Tiles> matrices_, Size size_, unsigned threads, uint64_t seed)
      : size(size_),
        stride(kernels::activation_stride(size.columns)),
        groups(matrices_[0].groups()),
        x(size.tokens * size.columns),
        codes(size.tokens * stride),
        scales(size.tokens * groups),
        sums(size.tokens * groups),
        half_sums(size.tokens * groups),
        out(size.tokens * size.rows),
        matrices(std::move(matrices_)),
        pool(threads) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = normal_at(seed, 1, i);
  }

  void quantize() {
    pool.for_range(size.tokens, 1, [&](size_t first, size_t last) {
      for (size_t t = first; t < last; ++t) {
        kernels::quantize_absmax_groups({.x = x.data() + t * size.columns,
                                         .columns = size.columns,
                                         .codes = codes.data() + t * stride,
                                         .scales = scales.data() + t * groups,
                                         .sums = sums.data() + t * groups,
                                         .half_sums = half_sums.data() + t * groups});
      }
    });
  }
  void multiply(const Tiles& weights) {
    quantize();
    const CallOf<Tiles> call{
        .weights = weights,
        .x = {codes.data(), stride, size.tokens, scales.data(), sums.data(), half_sums.data()},
        .out = out.data(),
        .out_stride = size.rows};
    pool.for_range(weights.panels(), 1,
                   [&](size_t first, size_t last) { multiply_panels(call, first, last); });
  }
  int code_at(size_t token, size_t column) const { return codes[token * stride + column]; }

  Size size;
  size_t stride;
  size_t groups;
  std::vector<float> x;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<int32_t> half_sums;
  std::vector<float> out;
  std::vector<Tiles> matrices;
  ThreadPool pool;
};

/// What a group adds to an output before the scale of the token, in f64, and the largest number
/// that is rounded on the way.
struct Term {
  double value = 0;
  double magnitude = 0;
};
Term term_of(const Problem<GroupTiles>& problem, const GroupTiles& weights, size_t token,
             size_t row, size_t group) {
  const auto [scale, codes] = weights.group_at(row, group);
  int sum = 0;
  for (size_t c = 0; c < kGroupColumns; ++c) {
    sum += codes[c] * problem.code_at(token, group * kGroupColumns + c);
  }
  const double value = sum * static_cast<double>(scale.to_float());
  return {value, std::abs(value)};
}
/// Scaled codes and minimum are within the range of the weights, and each at most twice the
/// largest.
Term term_of(const Problem<BlockTiles>& problem, const BlockTiles& weights, size_t token,
             size_t row, size_t group) {
  Term term;
  double largest = 0;
  int magnitude = 0;
  for (size_t c = group * kGroupColumns; c < (group + 1) * kGroupColumns; ++c) {
    const auto weight = static_cast<double>(weights.weight_at(row, c));
    term.value += weight * problem.code_at(token, c);
    largest = std::max(largest, std::abs(weight));
    magnitude += std::abs(problem.code_at(token, c));
  }
  term.magnitude = 4 * largest * magnitude;
  return term;
}

/// The difference from plain loops in f64 over the same codes, and what f32 sums may differ by.
template <class Tiles>
void check_output(const Problem<Tiles>& problem, const Tiles& weights, size_t token, size_t row,
                  Verification& verification) {
  double expected = 0;
  double magnitude = 0;
  for (size_t g = 0; g < problem.groups; ++g) {
    const auto term = term_of(problem, weights, token, row, g);
    const auto scale = static_cast<double>(problem.scales[token * problem.groups + g]);
    expected += term.value * scale;
    magnitude += term.magnitude * scale;
  }
  // Two roundings for each term, and one for each addition to a sum of at most `magnitude`.
  const double tolerance = static_cast<double>(problem.groups + 2) * 0x1p-24 * magnitude;
  const double error =
      std::abs(static_cast<double>(problem.out[token * problem.size.rows + row]) - expected);
  verification.max_error = std::max(verification.max_error, error);
  verification.tolerance = std::max(verification.tolerance, tolerance);
  verification.passed = verification.passed && error <= tolerance;
}

/// Of each matrix sixteen rows spread over all of it, for all tokens. (The tests of the kernels
/// compare every output, and bit by bit.)
template <class Tiles>
Verification verify(Problem<Tiles>& problem) {
  Verification verification(true);
  verification.reference = "plain loops";
  verification.cosine = std::numeric_limits<double>::quiet_NaN();
  for (const auto& weights : problem.matrices) {
    problem.multiply(weights);
    for (size_t i = 0; i < 16; ++i) {
      const size_t row = i * (problem.size.rows - 1) / 15;
      for (size_t t = 0; t < problem.size.tokens; ++t) {
        check_output(problem, weights, t, row, verification);
      }
    }
  }
  return verification;
}

template <class Tiles>
Work work_of(const Problem<Tiles>& problem) {
  const auto [rows, columns, tokens] = problem.size;
  const size_t weights = problem.matrices[0].bytes();
  const size_t activations = sizeof(float) * problem.x.size();
  return {.elements = static_cast<double>(rows * columns),
          .bytes_read = static_cast<double>(weights + activations),
          .bytes_written = static_cast<double>(sizeof(float) * problem.out.size()),
          .tokens = static_cast<double>(tokens),
          .flops = 2 * static_cast<double>(rows * columns * tokens),
          .compute = "i8",
          .working_set_bytes = static_cast<double>(weights * problem.matrices.size())};
}

template <class Tiles>
void measure(Bench& p, Result<std::vector<Tiles>> matrices, Size size) {
  if (!matrices) return p.fail(matrices.error().message());
  Problem<Tiles> problem(*std::move(matrices), size, p.threads(), p.seed());
  p.work(work_of(problem));
  p.verify([&] { return verify(problem); });
  const auto& all = problem.matrices;
  uint64_t products = 0;
  p.measure([&] { problem.multiply(all[products++ % all.size()]); });
  p.kernels({{fmt::format("{}_{}/{}", kernel_name(all[0]), p.dtype(), kernels::current_isa()),
              products}});
}

void run(Bench& p) {
  if (!use_isa_of(p)) return;
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  const auto tokens = static_cast<size_t>(std::max<int64_t>(1, p.number("batch")));
  const Size size{shape->rows, shape->columns, tokens};
  for (const auto bits : {GroupBits::four, GroupBits::six, GroupBits::eight}) {
    if (p.dtype() == fmt::format("int{}", static_cast<int>(bits))) {
      return measure(p, random_groups(bits, size, p.seed()), size);
    }
  }
  for (const auto format :
       {quant::TiledBlocks::q4_1, quant::TiledBlocks::q4_k, quant::TiledBlocks::q6_k}) {
    if (p.dtype() == name_of(format)) {
      return measure(p, random_blocks(format, size, p.seed()), size);
    }
  }
}

const std::vector<std::string> kTypes{"int4", "int6", "int8", "q4_1", "q4_k", "q6_k"};

bool register_suite() {
  const Axis device = axis("device", std::vector<std::string>{"cpu"});
  register_benchmark(
      {.suite = "lowbit",
       .operation = "gemv",
       .cases =
           [=] {
             return over(
                 axis("dtype", kTypes), device,
                 axis("shape", std::vector<std::string>{"2560x2560", "6912x2560", "128256x2560"}));
           },
       .body = run});
  register_benchmark({.suite = "lowbit",
                      .operation = "gemv",
                      .cases =
                          [=] {
                            return over(axis("dtype", kTypes), device, axis("isa", isa_names()),
                                        axis("shape", std::vector<std::string>{"2560x2560"}));
                          },
                      .body = run});
  register_benchmark(
      {.suite = "lowbit",
       .operation = "gemm",
       .cases =
           [=] {
             return over(
                 axis("dtype", kTypes), device,
                 axis("shape", std::vector<std::string>{"2560x2560", "6912x2560", "4096x4096"}),
                 axis("batch", {2, 4, 8, 32, 128, 512}));
           },
       .body = run});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
