#include "model/tensor_values.hpp"

#include <fmt/format.h>

#include <cctype>

#include "kernels/convert.hpp"
#include "quant/scheme.hpp"

namespace trilobite::model {
namespace {

using gguf::TensorType;

std::optional<DType> float_type(TensorType type) {
  switch (type) {
    case TensorType::f32: return DType::f32;
    case TensorType::f16: return DType::f16;
    case TensorType::bf16: return DType::bf16;
    default: return std::nullopt;
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto& letter : result)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

std::optional<quant::BlockFormat> find_block_format(const gguf::TensorInfo& tensor) {
  const auto name = lower(tensor.type->name);
  for (const auto& formats :
       {quant::simple_block_formats(), quant::k_block_formats(), quant::ternary_block_formats()}) {
    for (const auto& format : formats) {
      if (format.name == name) return format;
    }
  }
  return std::nullopt;
}

}  // namespace

quant::QuantizedView packed_view(const gguf::TensorInfo& tensor) {
  return {.rows = tensor.rows(),
          .cols = tensor.columns(),
          .bytes = {reinterpret_cast<const uint8_t*>(tensor.data.data()), tensor.data.size()}};
}

Error unsupported_type(const gguf::TensorInfo& tensor) {
  return Error(
      fmt::format("tensor '{}' has type {}, which cannot be computed with; F32, F16, BF16, "
                  "Q8_0, Q4_0, Q4_1, Q4_K, Q6_K, TQ1_0, TQ2_0 and I2_S can",
                  tensor.name, tensor.type->name));
}

Result<std::vector<float>> tensor_values(const gguf::TensorInfo& tensor,
                                         quant::I2sLayout i2s_layout) {
  const auto doing = [&] { return fmt::format("tensor '{}'", tensor.name); };
  if (const auto dtype = float_type(tensor.type->type)) {
    std::vector<float> values(tensor.elements());
    kernels::to_f32({*dtype, tensor.data.data(), values.data(), values.size()});
    return values;
  }
  if (tensor.type->type == TensorType::i2_s) {
    const auto ternary = quant::unpack_i2s(i2s_layout, packed_view(tensor));
    if (!ternary) return fail_from(ternary, doing());
    return quant::dequantize_ternary(*ternary);
  }
  const auto format = find_block_format(tensor);
  if (!format) return std::unexpected(unsupported_type(tensor));
  std::vector<float> values(tensor.elements());
  if (auto done = quant::dequantize_blocks(*format, packed_view(tensor), values); !done)
    return fail_from(done, doing());
  return values;
}

Result<RowReader> RowReader::create(const gguf::TensorInfo& tensor) {
  RowReader reader(tensor);
  if (float_type(tensor.type->type)) return reader;
  reader.blocks_ = find_block_format(tensor);
  if (!reader.blocks_) return std::unexpected(unsupported_type(tensor));
  return reader;
}

void RowReader::read(size_t row, std::span<float> values) const {
  const size_t columns = tensor_->columns();
  TRILOBITE_CHECK(row < tensor_->rows() && values.size() == columns);
  if (const auto dtype = float_type(tensor_->type->type)) {
    const auto* from = tensor_->data.data() + row * columns * size_of(*dtype);
    return kernels::to_f32({*dtype, from, values.data(), columns});
  }
  const size_t blocks = columns / blocks_->columns;
  const auto* block =
      reinterpret_cast<const uint8_t*>(tensor_->data.data()) + row * blocks * blocks_->bytes;
  for (size_t i = 0; i < blocks; ++i)
    blocks_->decode(block + i * blocks_->bytes, values.data() + i * blocks_->columns);
}

}  // namespace trilobite::model
