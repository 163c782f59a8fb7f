// Suite lowbit, operations on weights of 4, 6 and 8 bits in groups (int4, int6, int8): f32
// activations in, f32 out, quantising the activations included. One iteration multiplies by several
// matrices in turn, so many that none of them is still in a cache when its turn comes again.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/cpu_info.hpp"
#include "base/rng.hpp"
#include "base/thread_pool.hpp"
#include "kernels/group_absmax.hpp"
#include "kernels/group_product.hpp"
#include "kernels/isa.hpp"
#include "tensor/shape.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {
namespace {

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

/// Matrices that together are four times as large as the last cache, and the memory to multiply.
struct Problem {
  Problem(Size size_, unsigned threads)
      : size(size_),
        stride((size.columns + kGroupColumns - 1) / kGroupColumns * kGroupColumns),
        groups(stride / kGroupColumns),
        x(size.tokens * size.columns),
        codes(size.tokens * stride),
        scales(size.tokens * groups),
        sums(size.tokens * groups),
        out(size.tokens * size.rows),
        pool(threads) {}

  Result<void> fill(GroupBits bits, uint64_t seed) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = normal_at(seed, 1, i);
    const GroupTable table(bits, seed);
    const size_t enough = 4 * read_cpu_info().last_level_cache_bytes();
    do {
      auto tiles = GroupTiles::create(size.rows, size.columns, bits);
      if (!tiles) return fail_from(tiles);
      const size_t start = matrices.size();
      pool.for_range(size.rows, quant::kPanelRows, [&](size_t first, size_t last) {
        for (size_t i = first * groups; i < last * groups; ++i) {
          tiles->set_group(i / groups, i % groups, table.at(start + i));
        }
      });
      matrices.push_back(*std::move(tiles));
    } while (matrices.size() * matrices[0].bytes() < enough);
    return {};
  }
  void quantize() {
    pool.for_range(size.tokens, 1, [&](size_t first, size_t last) {
      for (size_t t = first; t < last; ++t) {
        kernels::quantize_absmax_groups({.x = x.data() + t * size.columns,
                                         .columns = size.columns,
                                         .codes = codes.data() + t * stride,
                                         .scales = scales.data() + t * groups,
                                         .sums = sums.data() + t * groups});
      }
    });
  }
  void multiply(const GroupTiles& weights) {
    quantize();
    const kernels::GroupCall call{
        .weights = weights,
        .x = {codes.data(), stride, size.tokens, scales.data(), sums.data()},
        .out = out.data(),
        .out_stride = size.rows};
    pool.for_range(weights.panels(), 1,
                   [&](size_t first, size_t last) { kernels::group_product(call, first, last); });
  }

  Size size;
  size_t stride;
  size_t groups;
  std::vector<float> x;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<float> out;
  std::vector<GroupTiles> matrices;
  ThreadPool pool;
};

/// The difference from plain loops in f64 over the same codes, and what f32 sums may differ by.
void check_output(const Problem& problem, const GroupTiles& weights, size_t token, size_t row,
                  Verification& verification) {
  double expected = 0;
  double magnitude = 0;
  for (size_t g = 0; g < problem.groups; ++g) {
    const auto group = weights.group_at(row, g);
    int sum = 0;
    for (size_t c = 0; c < kGroupColumns; ++c) {
      sum += group.codes[c] * problem.codes[token * problem.stride + g * kGroupColumns + c];
    }
    const double term = sum * static_cast<double>(group.scale.to_float()) *
                        static_cast<double>(problem.scales[token * problem.groups + g]);
    expected += term;
    magnitude += std::abs(term);
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
Verification verify(Problem& problem) {
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

Work work_of(const Problem& problem) {
  const auto count = static_cast<double>(problem.matrices.size());
  const auto [rows, columns, tokens] = problem.size;
  const size_t read = problem.matrices[0].bytes() + sizeof(float) * problem.x.size();
  return {.bytes_read = count * static_cast<double>(read),
          .bytes_written = count * static_cast<double>(sizeof(float) * problem.out.size()),
          .items = count,
          .tokens = count * static_cast<double>(tokens),
          .flops = count * 2 * static_cast<double>(rows * columns * tokens),
          .compute = "i8"};
}

GroupBits bits_of(const std::string& dtype) {
  return dtype == "int4" ? GroupBits::four : dtype == "int6" ? GroupBits::six : GroupBits::eight;
}

void run(Bench& p) {
  if (const auto chosen = kernels::set_isa(p.isa()); !chosen) {
    return p.skip(chosen.error().message());
  }
  const auto shape = Shape::parse(p.shape());
  if (!shape) return p.fail(shape.error().message());
  const auto tokens = static_cast<size_t>(std::max<int64_t>(1, p.number("batch")));
  Problem problem({static_cast<size_t>((*shape)[0]), static_cast<size_t>((*shape)[1]), tokens},
                  p.threads());
  if (const auto filled = problem.fill(bits_of(p.dtype()), p.seed()); !filled) {
    return p.fail(filled.error().message());
  }
  p.work(work_of(problem));
  p.verify([&] { return verify(problem); });
  uint64_t products = 0;
  p.measure([&] {
    for (const auto& weights : problem.matrices) problem.multiply(weights);
    products += problem.matrices.size();
  });
  p.kernels({{fmt::format("group_product_{}/{}", p.dtype(), kernels::current_isa()), products}});
}

const std::vector<std::string> kTypes{"int4", "int6", "int8"};

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
                      .operation = "gemm",
                      .cases =
                          [=] {
                            return over(
                                axis("dtype", kTypes), device,
                                axis("shape", std::vector<std::string>{"2560x2560", "6912x2560"}),
                                axis("batch", {2, 4, 8, 32, 128}));
                          },
                      .body = run});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
