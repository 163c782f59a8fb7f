#include "modelfile/tensor_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "quant/scheme.hpp"

namespace trilobite::modelfile {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto& letter : result)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

bool known(gguf::TensorType type) {
  return std::ranges::find(kTensorTypes, type) != kTensorTypes.end();
}

/// The number format of a type; they have the same names.
Result<quant::Scheme> scheme_of(gguf::TensorType type) {
  return quant::find_scheme(lower(gguf::name_of(type)));
}

std::span<const uint8_t> as_numbers(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::string names_of_types() {
  std::string names;
  for (const auto type : kTensorTypes) {
    if (!names.empty()) names += ", ";
    names += gguf::name_of(type);
  }
  return names;
}

std::span<const std::byte> bytes_of_rows(const gguf::TensorInfo& tensor, size_t first,
                                         size_t count) {
  const size_t row_bytes = tensor.data.size() / tensor.rows();
  return tensor.data.subspan(first * row_bytes, count * row_bytes);
}

/// What is converted: in which layout it is matters for I2_S alone.
struct Source {
  const gguf::TensorInfo& tensor;
  quant::I2sLayout i2s_layout;
};

/// A piece of a conversion: some rows of the source and what they become.
struct Piece {
  std::vector<uint8_t> bytes;
  quant::ErrorSums errors;
};

Result<Piece> convert_rows(const Source& source, gguf::TensorType to, size_t first, size_t count) {
  const auto& tensor = source.tensor;
  const auto values = decode_rows(tensor, first, count, source.i2s_layout);
  if (!values) return fail_from(values);
  auto bytes = encode_rows(to, *values, tensor.columns());
  if (!bytes) return fail_from(bytes, fmt::format("tensor '{}'", tensor.name));
  const auto restored =
      quant::dequantize(*scheme_of(to), {.rows = count, .cols = tensor.columns(), .bytes = *bytes});
  if (!restored) return fail_from(restored, fmt::format("tensor '{}'", tensor.name));
  Piece piece{.bytes = *std::move(bytes)};
  piece.errors.add(*values, *restored);
  return piece;
}

}  // namespace

Result<gguf::TensorType> parse_tensor_type(std::string_view name) {
  const auto type = gguf::parse_type(name);
  if (type && known(*type)) return *type;
  return fail(fmt::format("'{}' is no tensor type that can be written; there are {}", name,
                          names_of_types()));
}

bool is_ternary(gguf::TensorType type) {
  return type == gguf::TensorType::tq1_0 || type == gguf::TensorType::tq2_0 ||
         type == gguf::TensorType::i2_s;
}

bool fits(gguf::TensorType type, size_t columns) {
  const auto scheme = scheme_of(type);
  return scheme && columns % scheme->column_multiple == 0;
}

gguf::TensorType fitting_type(gguf::TensorType wanted, size_t columns) {
  for (const auto type : {wanted, gguf::TensorType::q8_0}) {
    if (fits(type, columns)) return type;
  }
  return gguf::TensorType::f16;
}

Result<std::vector<float>> decode_rows(const gguf::TensorInfo& tensor, size_t first, size_t count,
                                       quant::I2sLayout i2s_layout) {
  if (!known(tensor.type->type)) return std::unexpected(unsupported_type(tensor));
  const bool whole = tensor.type->tensor_extra_bytes != 0;
  TRILOBITE_CHECK(!whole || (first == 0 && count == tensor.rows()));
  if (tensor.type->type == gguf::TensorType::i2_s) {
    const auto ternary = quant::unpack_i2s(i2s_layout, packed_view(tensor));
    if (!ternary) return fail_from(ternary, fmt::format("tensor '{}'", tensor.name));
    return quant::dequantize_ternary(*ternary);
  }
  const auto bytes = bytes_of_rows(tensor, first, count);
  auto values =
      quant::dequantize(*scheme_of(tensor.type->type),
                        {.rows = count, .cols = tensor.columns(), .bytes = as_numbers(bytes)});
  if (!values) return fail_from(values, fmt::format("tensor '{}'", tensor.name));
  return values;
}

Result<std::vector<float>> decode_tensor(const gguf::TensorInfo& tensor,
                                         quant::I2sLayout i2s_layout) {
  return decode_rows(tensor, 0, tensor.rows(), i2s_layout);
}

quant::QuantizedView packed_view(const gguf::TensorInfo& tensor) {
  return {.rows = tensor.rows(), .cols = tensor.columns(), .bytes = as_numbers(tensor.data)};
}

Error unsupported_type(const gguf::TensorInfo& tensor) {
  return Error(fmt::format("tensor '{}' has type {}, which cannot be computed with; these can: {}",
                           tensor.name, tensor.type->name, names_of_types()));
}

Result<std::vector<uint8_t>> encode_rows(gguf::TensorType type, std::span<const float> values,
                                         size_t columns) {
  const auto matrix = quant::MatrixView::from(values, values.size() / columns, columns);
  if (!matrix) return fail_from(matrix);
  auto packed = quant::quantize(*scheme_of(type), *matrix);
  if (!packed) return fail_from(packed);
  return std::move(packed->bytes);
}

size_t rows_at_a_time(const gguf::TensorInfo& tensor) {
  constexpr size_t kElements = 64 * 1024;
  return std::clamp<size_t>(kElements / tensor.columns(), 1, tensor.rows());
}

Result<ConvertedTensor> convert(const gguf::TensorInfo& tensor, gguf::TensorType to,
                                ThreadPool& pool, quant::I2sLayout i2s_layout) {
  const bool whole =
      gguf::facts_of(to).tensor_extra_bytes != 0 || tensor.type->tensor_extra_bytes != 0;
  const size_t step = whole ? tensor.rows() : rows_at_a_time(tensor);
  const size_t pieces = (tensor.rows() + step - 1) / step;
  std::vector<std::optional<Result<Piece>>> done(pieces);
  pool.for_range(pieces, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t first = i * step;
      done[i] =
          convert_rows({tensor, i2s_layout}, to, first, std::min(step, tensor.rows() - first));
    }
  });
  ConvertedTensor result;
  for (auto& piece : done) {
    if (!*piece) return fail_from(*piece);
    result.bytes.insert(result.bytes.end(), (*piece)->bytes.begin(), (*piece)->bytes.end());
    result.errors.add((*piece)->errors);
    piece.reset();
  }
  return result;
}

}  // namespace trilobite::modelfile
