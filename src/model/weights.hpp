#pragma once
// From the tensors of a file to the weights that the kernels read: which form each gets, and what
// that cost in memory.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "gguf/gguf_file.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/group_repack.hpp"
#include "kernels/ternary_repack.hpp"
#include "model/linear.hpp"
#include "model/row_reader.hpp"
#include "modelfile/model_tensors.hpp"
#include "quant/i2s.hpp"

namespace trilobite::model {

/// How the weights of a model are turned into what the kernels read.
struct WeightOptions {
  /// Whether weights that could be read where they lie in the file are copied into tiles all the
  /// same: loading takes longer, and long runs are a little faster where memory has large pages.
  bool packs_all = false;
  quant::TernaryForm ternary_form = quant::TernaryForm::two_bit;
  std::optional<quant::I2sLayout> i2s_layout;  // nothing: modelfile/i2s_layout.hpp decides
};

/// What became of the tensors.
struct WeightMemory {
  size_t mapped_bytes = 0;  // used where they lie in the file
  size_t packed_bytes = 0;  // copied into a kernel's layout
};

/// A gain and (layernorm) a bias.
struct Norm {
  std::vector<float> weight;
  std::vector<float> bias;
};

/// Makes weights of the tensors of a model. Keeps the first problem; callers take all they need and
/// check once.
class WeightLoader {
 public:
  /// `tensors` are those of `file`.
  WeightLoader(const gguf::GgufFile& file, modelfile::ModelTensors tensors, ThreadPool& pool,
               const WeightOptions& options)
      : file_(file), tensors_(std::move(tensors)), pool_(pool), options_(options) {}

  const gguf::TensorInfo* find(std::string_view name) const { return tensors_.find(name); }
  /// Rows of a tensor that the model has.
  std::optional<RowReader> rows(std::string_view name);
  /// The tensor `name` as floats; nothing when the model has none.
  std::vector<float> vector(std::string_view name);
  /// `prefix`.weight, and `prefix`.bias of a centered norm.
  Norm norm(const std::string& prefix, bool is_centered);
  /// `prefix`.weight with `prefix`.scale and `prefix`.bias.
  std::optional<Linear> linear(const std::string& prefix);

  const WeightMemory& memory() const { return memory_; }
  Result<void> finish() const;

 private:
  Result<Weights> weights(const gguf::TensorInfo& tensor);
  /// How the tensor can be read where it lies, if it can and shall.
  std::optional<kernels::StoredFormat> stored_format(const gguf::TensorInfo& tensor);
  quant::I2sLayout i2s_layout();
  Result<Weights> packed_weights(const gguf::TensorInfo& tensor);
  Result<Weights> group_weights(const gguf::TensorInfo& tensor, kernels::GroupBlocks blocks);
  Result<Weights> block_weights(const gguf::TensorInfo& tensor, quant::TiledBlocks format);
  Result<Weights> ternary_weights(const gguf::TensorInfo& tensor, kernels::TernaryBlocks blocks);
  Result<Weights> i2s_weights(const gguf::TensorInfo& tensor);
  void keep(const Error& problem);

  const gguf::GgufFile& file_;
  modelfile::ModelTensors tensors_;
  ThreadPool& pool_;
  const WeightOptions& options_;
  WeightMemory memory_;
  std::optional<quant::I2sLayout> i2s_layout_;  // once it is known
  std::optional<Error> problem_;
};

}  // namespace trilobite::model
