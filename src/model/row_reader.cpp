#include "model/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "kernels/convert.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::model {
namespace {

using gguf::TensorType;

/// Both tables have the same names, in different case.
bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<quant::BlockFormat> find_block_format(const gguf::TensorInfo& tensor) {
  for (const auto& formats :
       {quant::simple_block_formats(), quant::k_block_formats(), quant::ternary_block_formats()}) {
    for (const auto& format : formats) {
      if (same_name(format.name, tensor.type->name)) return format;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<DType> float_type(TensorType type) {
  switch (type) {
    case TensorType::f32: return DType::f32;
    case TensorType::f16: return DType::f16;
    case TensorType::bf16: return DType::bf16;
    default: return std::nullopt;
  }
}

Result<RowReader> RowReader::create(const gguf::TensorInfo& tensor, quant::I2sLayout i2s_layout) {
  RowReader reader(tensor);
  if (float_type(tensor.type->type)) return reader;
  if (tensor.type->type == TensorType::i2_s) {
    const auto scale = quant::i2s_scale(i2s_layout, modelfile::packed_view(tensor));
    if (!scale) return fail_from(scale, fmt::format("tensor '{}'", tensor.name));
    reader.i2s_layout_ = i2s_layout;
    reader.i2s_scale_ = *scale;
    return reader;
  }
  reader.blocks_ = find_block_format(tensor);
  if (!reader.blocks_) return std::unexpected(modelfile::unsupported_type(tensor));
  return reader;
}

void RowReader::read(size_t row, std::span<float> values) const {
  const size_t columns = tensor_->columns();
  TRILOBITE_CHECK(row < tensor_->rows() && values.size() == columns);
  if (const auto dtype = float_type(tensor_->type->type)) {
    const auto* from = tensor_->data.data() + row * columns * size_of(*dtype);
    return kernels::to_f32({*dtype, from, values.data(), columns});
  }
  if (tensor_->type->type == TensorType::i2_s) {
    quant::unpack_i2s_row(i2s_layout_, modelfile::packed_view(*tensor_), row, values);
    for (auto& value : values) value *= i2s_scale_;
    return;
  }
  const size_t blocks = columns / blocks_->columns;
  const auto* block =
      reinterpret_cast<const uint8_t*>(tensor_->data.data()) + row * blocks * blocks_->bytes;
  for (size_t i = 0; i < blocks; ++i)
    blocks_->decode(block + i * blocks_->bytes, values.data() + i * blocks_->columns);
}

}  // namespace trilobite::model
