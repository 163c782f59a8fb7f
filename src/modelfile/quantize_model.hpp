#pragma once
// A model file in other types: tensor after tensor, so that the model is never in memory as a
// whole.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gguf/gguf_file.hpp"
#include "quant/error_measures.hpp"
#include "quant/i2s.hpp"

namespace trilobite::modelfile {

struct QuantizeRequest {
  gguf::TensorType type = gguf::TensorType::q8_0;  // of the linear layers
  // Unless given: 6 bits for the head (and for an embedding that is the head as well) where `type`
  // has four or fewer; 6 bits for the embedding where `type` is ternary; else `type`.
  std::optional<gguf::TensorType> head;
  std::optional<gguf::TensorType> embedding;
  /// The type of the tensor of that name, where a plan decides instead of the three above.
  std::function<gguf::TensorType(std::string_view)> planned;
  /// Of the I2_S tensors of the source; nothing: as it says or its tensors tell
  /// (modelfile/i2s_layout.hpp).
  std::optional<quant::I2sLayout> i2s_layout;
  /// Called before each tensor: its name, its number, and how many there are.
  std::function<void(std::string_view, size_t, size_t)> progress;
};

/// What became of the tensors that now have one type.
struct TypeOutcome {
  size_t tensors = 0;
  size_t converted = 0;  // the others had the type already
  uint64_t elements = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
  quant::ErrorSums errors;  // of the converted ones, against what the file held before
};

struct QuantizeReport {
  std::map<gguf::TensorType, TypeOutcome> by_type;
  std::vector<std::string> exceptions;  // tensors whose columns did not fit, and what they became
  uint64_t bytes_before = 0;            // of the whole files
  uint64_t bytes_after = 0;
};

/// One-dimensional tensors and tables of positions become F32; metadata is kept, but for
/// general.file_type and general.quantization_version. I2_S is written in one layout, which the
/// file then names. Nothing is written when it fails.
Result<QuantizeReport> quantize_model(const gguf::GgufFile& source, const QuantizeRequest& request,
                                      const Path& target, ThreadPool& pool);

}  // namespace trilobite::modelfile
