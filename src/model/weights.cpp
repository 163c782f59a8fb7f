#include "model/weights.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "model/tensor_values.hpp"
#include "quant/group_conversion.hpp"
#include "quant/i2s_layout_guess.hpp"

namespace trilobite::model {
namespace {

using gguf::TensorInfo;
using gguf::TensorType;

/// Ternary tiles of values that are all -s, 0 or s; nothing when they are not.
Result<std::optional<TernaryWeights>> ternary_of(std::span<const float> values, size_t rows,
                                                 size_t columns, quant::TernaryForm form) {
  float scale = 0;
  for (const float value : values) scale = std::max(scale, std::abs(value));
  std::vector<int8_t> codes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && std::abs(values[i]) != scale) return std::nullopt;
    codes[i] = static_cast<int8_t>((values[i] > 0) - (values[i] < 0));
  }
  auto tiles = quant::TernaryTiles::pack(codes, rows, columns, form);
  if (!tiles) return fail_from(tiles);
  return TernaryWeights{*std::move(tiles), scale, {}};
}

}  // namespace

void WeightLoader::keep(const Error& problem) {
  if (!problem_) problem_ = problem;
}

Result<void> WeightLoader::finish() const {
  if (problem_) return std::unexpected(*problem_);
  return {};
}

std::vector<float> WeightLoader::vector(std::string_view name) {
  const auto* tensor = file_->find_tensor(name);
  if (tensor == nullptr) return {};
  auto values = tensor_values(*tensor, quant::I2sLayout::x86_block128);
  if (!values) return keep(values.error()), std::vector<float>();
  memory_.packed_bytes += values->size() * sizeof(float);
  return *std::move(values);
}

Norm WeightLoader::norm(const std::string& prefix, bool is_centered) {
  return {vector(prefix + ".weight"),
          is_centered ? vector(prefix + ".bias") : std::vector<float>()};
}

std::optional<Linear> WeightLoader::linear(const std::string& prefix) {
  const auto* tensor = file_->find_tensor(prefix + ".weight");
  if (tensor == nullptr) return std::nullopt;
  auto loaded = weights(*tensor);
  if (!loaded) return keep(loaded.error()), std::nullopt;
  const auto scale = vector(prefix + ".scale");
  auto bias = vector(prefix + ".bias");
  if (problem_) return std::nullopt;
  Linear linear(*std::move(loaded), scale.empty() ? 1.0f : scale[0], std::move(bias));
  if (linear.is_mapped()) {
    memory_.mapped_bytes += linear.bytes();
  } else {
    memory_.packed_bytes += linear.bytes();
    // What has been copied need not stay in memory a second time.
    file_.file().release(tensor->data);
  }
  return linear;
}

Result<Weights> WeightLoader::weights(const TensorInfo& tensor) {
  const auto dense = [&](DType dtype) {
    return Weights(DenseWeights{dtype, tensor.data.data(), tensor.rows(), tensor.columns()});
  };
  const auto wrapped = [&](auto tiles) -> Result<Weights> {
    if (!tiles) return fail_from(tiles, fmt::format("tensor '{}'", tensor.name));
    return Weights(*std::move(tiles));
  };
  switch (tensor.type->type) {
    case TensorType::f32: return dense(DType::f32);
    case TensorType::f16: return dense(DType::f16);
    case TensorType::bf16: return dense(DType::bf16);
    case TensorType::q4_0: return wrapped(quant::group_tiles_from_q4_0(packed_view(tensor)));
    case TensorType::q8_0: return wrapped(quant::group_tiles_from_q8_0(packed_view(tensor)));
    case TensorType::tq1_0:
    case TensorType::tq2_0:
    case TensorType::i2_s: return ternary_weights(tensor);
    default: return std::unexpected(unsupported_type(tensor));
  }
}

Result<Weights> WeightLoader::ternary_weights(const TensorInfo& tensor) {
  auto layout = quant::I2sLayout::x86_block128;
  if (tensor.type->type == TensorType::i2_s)
    layout = options_.i2s_layout.value_or(guess_i2s_layout(file_.contents()));
  const auto values = tensor_values(tensor, layout);
  if (!values) return fail_from(values);
  auto ternary = ternary_of(*values, tensor.rows(), tensor.columns(), options_.ternary_form);
  if (!ternary) return fail_from(ternary, fmt::format("tensor '{}'", tensor.name));
  if (*ternary) return Weights(**std::move(ternary));
  const auto matrix = quant::MatrixView::from(*values, tensor.rows(), tensor.columns());
  if (!matrix) return fail_from(matrix);
  auto tiles = quant::quantize_groups(*matrix, quant::GroupBits::four);
  if (!tiles) return fail_from(tiles, fmt::format("tensor '{}'", tensor.name));
  return Weights(*std::move(tiles));
}

quant::I2sLayout guess_i2s_layout(const gguf::Gguf& file) {
  auto best = quant::I2sLayoutGuess{};
  for (const auto& tensor : file.tensors()) {
    if (tensor.type->type != TensorType::i2_s) continue;
    const auto guess = quant::guess_i2s_layout(packed_view(tensor));
    if (guess && guess->confidence > best.confidence) best = *guess;
    if (best.confidence > 0) break;
  }
  return best.layout;
}

}  // namespace trilobite::model
