#include "lowbit_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/cpu_info.hpp"
#include "base/rng.hpp"
#include "kernels/isa.hpp"
#include "quant/i2s.hpp"
#include "quant/scheme.hpp"
#include "tensor/shape.hpp"

namespace trilobite::benchmarks {

Result<MatrixShape> matrix_shape(const std::string& text) {
  const auto shape = Shape::parse(text);
  if (!shape) return fail_from(shape);
  if (shape->rank() != 2) return fail(fmt::format("a matrix needs a shape NxK, not {}", text));
  return MatrixShape{static_cast<size_t>((*shape)[0]), static_cast<size_t>((*shape)[1])};
}

std::vector<float> uniform_values(size_t count, RandomStream from) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i += 4) {
    const auto block = philox(from.seed, from.stream, i / 4);
    for (size_t j = i; j < std::min(count, i + 4); ++j) {
      values[j] = static_cast<float>(block[j - i] >> 8) * 0x1p-23f - 1.0f;
    }
  }
  return values;
}

quant::TernaryForm form_of(const std::string& dtype) {
  return dtype == "ternary-1.6" ? quant::TernaryForm::five_trits_a_byte
                                : quant::TernaryForm::two_bit;
}

std::vector<std::string> isa_names() {
  const auto isas = kernels::available_isas();
  return {isas.begin(), isas.end()};
}

bool use_isa_of(Bench& p) {
  const auto own = p.text("isa");
  if (!own.empty() && !p.isa().empty() && own != p.isa()) {
    p.skip(fmt::format("the command line asks for {}", p.isa()));
    return false;
  }
  if (const auto set = kernels::set_isa(own.empty() ? p.isa() : own); !set) {
    p.skip(set.error().message());
    return false;
  }
  return true;
}

ThreadPool& shared_pool(unsigned threads) {
  static std::map<unsigned, std::unique_ptr<ThreadPool>> pools;
  auto& pool = pools[threads];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads);
  return *pool;
}

RandomActivations::RandomActivations(size_t tokens, size_t columns, size_t padded_columns,
                                     uint64_t seed)
    : stride_((padded_columns + 63) / 64 * 64),
      codes_(tokens * stride_),
      scales_(tokens, 1.0f),
      sums_(tokens) {
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t c = 0; c < columns; ++c) {
      const auto code = static_cast<int8_t>(philox(seed, t, c)[0] % 255 - 127);
      codes_[t * stride_ + c] = code;
      sums_[t] += code;
    }
  }
}

kernels::Int8Rows RandomActivations::rows() const {
  return {codes_.data(), stride_, scales_.size(), scales_.data(), sums_.data()};
}

Result<WeightsInTurn> WeightsInTurn::create(MatrixShape shape, quant::TernaryForm form,
                                            bool in_cache) {
  static const size_t cache_bytes = read_cpu_info().last_level_cache_bytes();
  auto first = quant::TernaryTiles::create(shape.rows, shape.columns, form);
  if (!first) return fail_from(first);
  for (size_t i = 0; i < first->bytes(); ++i) {
    auto random = philox(11, 0, i)[0];
    uint8_t codes[5];
    for (auto& code : codes) {
      code = static_cast<uint8_t>(random % 3);
      random /= 3;
    }
    first->panel(0)[i] = quant::pack_codes(form, codes);
  }
  const size_t bytes = std::max<size_t>(first->bytes(), 1);
  const size_t wanted = std::max<size_t>(4 * cache_bytes, size_t{64} << 20);
  const size_t count = in_cache ? 1 : std::max<size_t>(1, (wanted + bytes - 1) / bytes);
  WeightsInTurn weights;
  for (size_t i = 1; i < count; ++i) {
    auto copy = quant::TernaryTiles::create(shape.rows, shape.columns, form);
    if (!copy) return fail_from(copy);
    std::copy_n(first->panel(0), first->bytes(), copy->panel(0));
    weights.copies_.push_back(*std::move(copy));
  }
  weights.copies_.push_back(*std::move(first));
  return weights;
}

Result<PackedTensor> PackedTensor::create(const std::string& scheme_name, MatrixShape shape,
                                          uint64_t seed) {
  constexpr size_t kStripRows = 64;
  const auto scheme = quant::find_scheme(scheme_name);
  if (!scheme) return fail_from(scheme);
  std::vector<float> weights(kStripRows * shape.columns);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = scheme->code_bits == 2
                     ? 0.05f * static_cast<float>(static_cast<int>(philox(seed, 2, i)[0] % 3) - 1)
                     : 0.02f * normal_at(seed, 2, i);
  }
  const auto strip = quant::MatrixView::from(weights, kStripRows, shape.columns);
  if (!strip) return fail_from(strip);
  auto one = quant::quantize(*scheme, *strip);
  if (!one) return fail_from(one);
  // I2_S keeps the scale of the matrix behind it.
  const auto tail =
      static_cast<std::ptrdiff_t>(scheme_name.starts_with("i2_s") ? quant::kI2sTailBytes : 0);
  PackedTensor tensor{.one = *std::move(one), .bytes = {}, .view = {}};
  const auto& bytes = tensor.one.bytes;
  for (size_t row = 0; row < shape.rows; row += kStripRows) {
    tensor.bytes.insert(tensor.bytes.end(), bytes.begin(), bytes.end() - tail);
  }
  tensor.bytes.insert(tensor.bytes.end(), bytes.end() - tail, bytes.end());
  tensor.view = {.rows = shape.rows, .cols = shape.columns, .bytes = tensor.bytes};
  return tensor;
}

}  // namespace trilobite::benchmarks
