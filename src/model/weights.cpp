#include "model/weights.hpp"

#include <fmt/format.h>

#include <utility>

#include "modelfile/i2s_layout.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::model {
namespace {

using gguf::TensorInfo;
using gguf::TensorType;
using modelfile::packed_view;

}  // namespace

void WeightLoader::keep(const Error& problem) {
  if (!problem_) problem_ = problem;
}

Result<void> WeightLoader::finish() const {
  if (problem_) return std::unexpected(*problem_);
  return {};
}

std::vector<float> WeightLoader::vector(std::string_view name) {
  const auto* tensor = find(name);
  if (tensor == nullptr) return {};
  auto values = modelfile::decode_tensor(*tensor);
  if (!values) return keep(values.error()), std::vector<float>();
  memory_.packed_bytes += values->size() * sizeof(float);
  return *std::move(values);
}

std::optional<RowReader> WeightLoader::rows(std::string_view name) {
  const auto* tensor = find(name);
  TRILOBITE_CHECK(tensor != nullptr);
  const bool is_i2s = tensor->type->type == TensorType::i2_s;
  auto reader = RowReader::create(*tensor, is_i2s ? i2s_layout() : quant::I2sLayout::x86_block128);
  if (!reader) return keep(reader.error()), std::nullopt;
  return *reader;
}

Norm WeightLoader::norm(const std::string& prefix, bool is_centered) {
  return {vector(prefix + ".weight"),
          is_centered ? vector(prefix + ".bias") : std::vector<float>()};
}

std::optional<Linear> WeightLoader::linear(const std::string& prefix) {
  const auto* tensor = find(prefix + ".weight");
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
  if (const auto dtype = float_type(tensor.type->type))
    return Weights(DenseWeights{*dtype, tensor.data.data(), tensor.rows(), tensor.columns()});
  if (const auto format = stored_format(tensor)) {
    auto stored = StoredWeights::look_at(*format, packed_view(tensor), pool_);
    if (!stored) return fail_from(stored, fmt::format("tensor '{}'", tensor.name));
    if (*stored) return Weights(**std::move(stored));
  }
  return packed_weights(tensor);
}

std::optional<kernels::StoredFormat> WeightLoader::stored_format(const TensorInfo& tensor) {
  using kernels::StoredFormat;
  const bool is_two_bit = options_.ternary_form == quant::TernaryForm::two_bit;
  if (options_.packs_all) return std::nullopt;
  switch (tensor.type->type) {
    case TensorType::q4_0: return StoredFormat::q4_0;
    case TensorType::q8_0: return StoredFormat::q8_0;
    case TensorType::q6_k: return StoredFormat::q6_k;
    case TensorType::tq2_0:
      if (is_two_bit) return StoredFormat::tq2_0;
      return std::nullopt;
    case TensorType::i2_s:
      if (is_two_bit && i2s_layout() == quant::I2sLayout::x86_block128)
        return StoredFormat::i2s_block128;
      return std::nullopt;
    default: return std::nullopt;
  }
}

quant::I2sLayout WeightLoader::i2s_layout() {
  if (!i2s_layout_)
    i2s_layout_ = modelfile::choose_i2s_layout(file_.contents(), options_.i2s_layout);
  return *i2s_layout_;
}

Result<Weights> WeightLoader::packed_weights(const TensorInfo& tensor) {
  switch (tensor.type->type) {
    case TensorType::q4_0: return group_weights(tensor, kernels::GroupBlocks::q4_0);
    case TensorType::q8_0: return group_weights(tensor, kernels::GroupBlocks::q8_0);
    case TensorType::q4_1: return block_weights(tensor, quant::TiledBlocks::q4_1);
    case TensorType::q4_k: return block_weights(tensor, quant::TiledBlocks::q4_k);
    case TensorType::q6_k: return block_weights(tensor, quant::TiledBlocks::q6_k);
    case TensorType::tq1_0: return ternary_weights(tensor, kernels::TernaryBlocks::tq1_0);
    case TensorType::tq2_0: return ternary_weights(tensor, kernels::TernaryBlocks::tq2_0);
    case TensorType::i2_s: return i2s_weights(tensor);
    default: return std::unexpected(modelfile::unsupported_type(tensor));
  }
}

Result<Weights> WeightLoader::group_weights(const TensorInfo& tensor, kernels::GroupBlocks blocks) {
  auto tiles = kernels::repack_groups(blocks, packed_view(tensor), pool_);
  if (!tiles) return fail_from(tiles, fmt::format("tensor '{}'", tensor.name));
  return Weights(*std::move(tiles));
}

Result<Weights> WeightLoader::block_weights(const TensorInfo& tensor, quant::TiledBlocks format) {
  auto tiles = kernels::repack_blocks(format, packed_view(tensor), pool_);
  if (!tiles) return fail_from(tiles, fmt::format("tensor '{}'", tensor.name));
  return Weights(*std::move(tiles));
}

Result<Weights> WeightLoader::ternary_weights(const TensorInfo& tensor,
                                              kernels::TernaryBlocks blocks) {
  auto ternary =
      kernels::repack_ternary_blocks(blocks, packed_view(tensor), options_.ternary_form, pool_);
  if (!ternary) return fail_from(ternary, fmt::format("tensor '{}'", tensor.name));
  if (*ternary) return Weights(**std::move(ternary));
  // Scales differ within a row: a tensor that was not ternary before it was quantised.
  return group_weights(tensor, blocks == kernels::TernaryBlocks::tq1_0
                                   ? kernels::GroupBlocks::tq1_0
                                   : kernels::GroupBlocks::tq2_0);
}

Result<Weights> WeightLoader::i2s_weights(const TensorInfo& tensor) {
  auto ternary =
      kernels::repack_i2s(i2s_layout(), packed_view(tensor), options_.ternary_form, pool_);
  if (!ternary) return fail_from(ternary, fmt::format("tensor '{}'", tensor.name));
  return Weights(*std::move(ternary));
}

}  // namespace trilobite::model
