#pragma once
// The number that general.file_type gives a whole model, by the type of most of its weights.

#include <cstdint>

#include "gguf/tensor_type.hpp"

namespace trilobite::modelfile {

/// What llama.cpp and bitnet.cpp write for a model whose linear layers have this type; the type
/// must be one that can be written.
uint32_t file_type_of(gguf::TensorType type);

/// general.quantization_version: of the block layouts; there has been no other since 2023.
inline constexpr uint32_t kQuantizationVersion = 2;

}  // namespace trilobite::modelfile
