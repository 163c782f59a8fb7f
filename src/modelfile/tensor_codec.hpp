#pragma once
// Tensors of a model file as f32 and back, whatever their type, spread over threads.

#include <array>
#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "gguf/gguf_file.hpp"
#include "quant/error_measures.hpp"
#include "quant/i2s.hpp"
#include "quant/matrix.hpp"

namespace trilobite::modelfile {

/// The types that tensors can be read from and written to.
inline constexpr std::array kTensorTypes{
    gguf::TensorType::f32,   gguf::TensorType::f16,  gguf::TensorType::bf16,
    gguf::TensorType::q8_0,  gguf::TensorType::q4_0, gguf::TensorType::q4_1,
    gguf::TensorType::q4_k,  gguf::TensorType::q6_k, gguf::TensorType::tq1_0,
    gguf::TensorType::tq2_0, gguf::TensorType::i2_s};

/// One of kTensorTypes by name; the error lists them.
Result<gguf::TensorType> parse_tensor_type(std::string_view name);
bool is_ternary(gguf::TensorType type);
/// Whether rows of this many columns are whole blocks of the type, as it is written here.
bool fits(gguf::TensorType type, size_t columns);
/// The type itself where it fits, else the nearest that loses no more: Q8_0, or F16.
gguf::TensorType fitting_type(gguf::TensorType wanted, size_t columns);

/// Rows [first, first + count) of a tensor. An error names the tensor: a type that cannot be read,
/// a scale that is not finite, a code that means nothing. I2_S is read as a whole; in a layout that
/// is not ours where the file is not (modelfile/i2s_layout.hpp).
Result<std::vector<float>> decode_rows(
    const gguf::TensorInfo& tensor, size_t first, size_t count,
    quant::I2sLayout i2s_layout = quant::I2sLayout::x86_block128);
/// All rows.
Result<std::vector<float>> decode_tensor(
    const gguf::TensorInfo& tensor, quant::I2sLayout i2s_layout = quant::I2sLayout::x86_block128);

/// The packed matrix of a tensor: its rows and columns, and all its bytes.
quant::QuantizedView packed_view(const gguf::TensorInfo& tensor);
/// The error for a type that nothing here computes with; names tensor and type.
Error unsupported_type(const gguf::TensorInfo& tensor);

/// A matrix as bytes of `type`; I2_S takes its scale from these values.
Result<std::vector<uint8_t>> encode_rows(gguf::TensorType type, std::span<const float> values,
                                         size_t columns);

/// A tensor in another type, and what that cost.
struct ConvertedTensor {
  std::vector<uint8_t> bytes;
  quant::ErrorSums errors;
};

/// Row by row, so that no more than a few rows are in memory as f32. I2_S needs the whole tensor.
Result<ConvertedTensor> convert(const gguf::TensorInfo& tensor, gguf::TensorType to,
                                ThreadPool& pool,
                                quant::I2sLayout i2s_layout = quant::I2sLayout::x86_block128);

/// Rows that one piece of work takes at a time: about 256 KB of f32.
size_t rows_at_a_time(const gguf::TensorInfo& tensor);

}  // namespace trilobite::modelfile
