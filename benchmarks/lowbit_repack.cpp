// Suite lowbit, operation repack: tensors as model files have them into the tiles of the product
// kernels. What loading a model does with each of its matrices, fresh memory for the tiles
// included.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/block_repack.hpp"
#include "kernels/group_repack.hpp"
#include "kernels/ternary_repack.hpp"
#include "lowbit_inputs.hpp"
#include "quant/scheme.hpp"

namespace trilobite::benchmarks {
namespace {

using quant::QuantizedView;

/// What a conversion made: its size, and any weight of it.
struct Repacked {
  size_t bytes;
  std::function<float(size_t row, size_t column)> weight;
};
using Repack = std::function<Result<Repacked>(const QuantizedView&, ThreadPool&)>;

Repacked describe(kernels::TernaryWeights&& made) {
  const size_t bytes = made.tiles.bytes();
  const auto shared = std::make_shared<kernels::TernaryWeights>(std::move(made));
  return {bytes, [shared](size_t row, size_t column) {
            const auto& scales = shared->scales;
            return static_cast<float>(shared->tiles.weight_at(row, column)) *
                   scales[scales.size() == 1 ? 0 : row];
          }};
}
Repacked describe(quant::GroupTiles&& made) {
  const size_t bytes = made.bytes();
  const auto shared = std::make_shared<quant::GroupTiles>(std::move(made));
  return {bytes, [shared](size_t row, size_t column) {
            const auto group = shared->group_at(row, column / quant::kGroupColumns);
            return static_cast<float>(group.codes[column % quant::kGroupColumns]) *
                   group.scale.to_float();
          }};
}

Repacked describe(quant::BlockTiles&& made) {
  const size_t bytes = made.bytes();
  const auto shared = std::make_shared<quant::BlockTiles>(std::move(made));
  return {bytes, [shared](size_t row, size_t column) { return shared->weight_at(row, column); }};
}

template <class T>
Result<Repacked> describe(Result<T> made) {
  if (!made) return fail_from(made);
  return describe(*std::move(made));
}
template <class T>
Result<Repacked> describe(Result<std::optional<T>> made) {
  if (!made) return fail_from(made);
  if (!*made) return fail("the scales of a row differ");
  return describe(**std::move(made));
}

Repack ternary(kernels::TernaryBlocks blocks, quant::TernaryForm form) {
  return [=](const QuantizedView& packed, ThreadPool& pool) {
    return describe(kernels::repack_ternary_blocks(blocks, packed, form, pool));
  };
}
Repack i2s(quant::I2sLayout layout) {
  return [=](const QuantizedView& packed, ThreadPool& pool) {
    return describe(kernels::repack_i2s(layout, packed, quant::TernaryForm::two_bit, pool));
  };
}
Repack groups(kernels::GroupBlocks blocks) {
  return [=](const QuantizedView& packed, ThreadPool& pool) {
    return describe(kernels::repack_groups(blocks, packed, pool));
  };
}

Repack blocks(quant::TiledBlocks format) {
  return [=](const QuantizedView& packed, ThreadPool& pool) {
    return describe(kernels::repack_blocks(format, packed, pool));
  };
}

struct Conversion {
  std::string name;    // of the benchmark's dtype
  std::string scheme;  // quant/scheme.hpp
  Repack repack;
};

const std::vector<Conversion>& conversions() {
  using kernels::GroupBlocks;
  using kernels::TernaryBlocks;
  using quant::I2sLayout;
  using quant::TernaryForm;
  using quant::TiledBlocks;
  static const std::vector<Conversion> all{
      {"tq2_0", "tq2_0", ternary(TernaryBlocks::tq2_0, TernaryForm::two_bit)},
      {"tq2_0-to-1.6", "tq2_0", ternary(TernaryBlocks::tq2_0, TernaryForm::five_trits_a_byte)},
      {"tq1_0", "tq1_0", ternary(TernaryBlocks::tq1_0, TernaryForm::two_bit)},
      {"i2_s", "i2_s", i2s(I2sLayout::x86_block128)},
      {"i2_s-four-rows", "i2_s-four-rows", i2s(I2sLayout::x86_four_rows)},
      {"i2_s-arm", "i2_s-arm", i2s(I2sLayout::arm_block64)},
      {"tq2_0-to-int4", "tq2_0", groups(GroupBlocks::tq2_0)},
      {"q4_0", "q4_0", groups(GroupBlocks::q4_0)},
      {"q8_0", "q8_0", groups(GroupBlocks::q8_0)},
      {"q4_1", "q4_1", blocks(TiledBlocks::q4_1)},
      {"q4_k", "q4_k", blocks(TiledBlocks::q4_k)},
      {"q6_k", "q6_k", blocks(TiledBlocks::q6_k)}};
  return all;
}

std::vector<std::string> conversion_names() {
  std::vector<std::string> names;
  for (const auto& conversion : conversions()) names.push_back(conversion.name);
  return names;
}

bool is_right(const Result<Repacked>& made, const PackedTensor& tensor) {
  if (!made) return false;
  const auto expected = quant::dequantize(tensor.one);
  if (!expected) return false;
  const auto [rows, columns] = MatrixShape{tensor.view.rows, tensor.view.cols};
  for (size_t i = 0; i < expected->size(); i += 61) {
    const size_t row = rows - tensor.one.rows + i / columns;
    if (made->weight(row, i % columns) != (*expected)[i]) return false;
  }
  return true;
}

void run(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  const auto conversion = std::ranges::find(conversions(), p.dtype(), &Conversion::name);
  const auto tensor = PackedTensor::create(conversion->scheme, *shape, p.seed());
  if (!tensor) return p.fail(tensor.error().message());
  ThreadPool& pool = shared_pool(p.threads());
  const auto made = conversion->repack(tensor->view, pool);
  if (!made) return p.fail(made.error().message());
  const double elements = static_cast<double>(shape->rows) * static_cast<double>(shape->columns);
  p.work({.elements = elements,
          .bytes_read = static_cast<double>(tensor->bytes.size()),
          .bytes_written = static_cast<double>(made->bytes)});
  p.verify([&] { return is_right(made, *tensor); });
  p.measure([&] { return conversion->repack(tensor->view, pool)->bytes; });
}

bool register_suite() {
  register_benchmark({.suite = "lowbit",
                      .operation = "repack",
                      .cases =
                          [] {
                            return over(
                                axis("dtype", conversion_names()),
                                axis("shape", std::vector<std::string>{"6912x2560", "65536x2560"}),
                                axis("device", std::vector<std::string>{"cpu"}));
                          },
                      .body = run});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
