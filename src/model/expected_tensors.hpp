#pragma once
// Which tensors a model of a given configuration consists of.

#include <cstddef>
#include <string>
#include <vector>

#include "gguf/gguf_file.hpp"
#include "model/config.hpp"

namespace trilobite::model {

struct ExpectedTensor {
  std::string name;
  size_t columns;
  size_t rows;  // 1 for vectors
  bool is_optional = false;
};

std::vector<ExpectedTensor> expected_tensors(const ModelConfig& config);

/// Whether the file has them all, in the right shapes; the error names the first that is not.
Result<void> check_tensors(const gguf::Gguf& file, const ModelConfig& config);

}  // namespace trilobite::model
