#pragma once
// The tensors of a file that its model computes with. Whoever computes takes them from here, so
// that nothing of a wrong shape, and nothing that the architecture does not have, is ever computed
// with.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf_file.hpp"
#include "modelfile/model_shape.hpp"

namespace trilobite::modelfile {

/// How the tensors of a file differ from those of its architecture, by name.
struct TensorDifferences {
  std::vector<std::string> missing;
  std::vector<std::string> misshapen;  // "a.weight is 4, not 8"
  std::vector<std::string> foreign;    // the architecture has no such tensor
};
TensorDifferences compare_tensors(const gguf::Gguf& file, const ModelShape& shape);

class ModelTensors {
 public:
  /// Errors: a tensor that is missing, has a wrong shape or a type that nobody computes with, or
  /// that the architecture does not have: whoever made the file meant it to be used.
  static Result<ModelTensors> take(const gguf::Gguf& file, const ModelShape& shape);

  /// nullptr when the model has no such tensor.
  const gguf::TensorInfo* find(std::string_view name) const;
  const std::map<std::string, const gguf::TensorInfo*, std::less<>>& all() const {
    return tensors_;
  }

 private:
  std::map<std::string, const gguf::TensorInfo*, std::less<>> tensors_;
};

/// Tensors that files carry besides and that change nothing of what is computed here: the
/// classifier and pooler of a BERT model.
bool is_harmless(std::string_view architecture, std::string_view tensor_name);

}  // namespace trilobite::modelfile
