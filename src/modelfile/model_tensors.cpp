#include "modelfile/model_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "modelfile/tensor_codec.hpp"

namespace trilobite::modelfile {

bool is_harmless(std::string_view architecture, std::string_view tensor_name) {
  return architecture == "bert" && tensor_name.starts_with("cls.");
}

TensorDifferences compare_tensors(const gguf::Gguf& file, const ModelShape& shape) {
  TensorDifferences differences;
  std::set<std::string, std::less<>> known;
  const auto compare = [&](const ExpectedTensor& expected, bool is_needed) {
    known.insert(expected.name);
    const auto* tensor = file.find_tensor(expected.name);
    if (tensor == nullptr) {
      if (is_needed) differences.missing.push_back(expected.name);
    } else if (!has_shape(*tensor, expected.dimensions)) {
      differences.misshapen.push_back(fmt::format("{} is {}, not {}", expected.name,
                                                  tensor->shape_text(),
                                                  fmt::join(expected.dimensions, "x")));
    }
  };
  for (const auto& expected : expected_tensors(shape)) compare(expected, true);
  for (const auto& expected : optional_tensors(shape)) compare(expected, false);
  for (const auto& tensor : file.tensors()) {
    if (!known.contains(tensor.name) && !is_harmless(shape.architecture, tensor.name))
      differences.foreign.emplace_back(tensor.name);
  }
  return differences;
}

Result<ModelTensors> ModelTensors::take(const gguf::Gguf& file, const ModelShape& shape) {
  const auto differences = compare_tensors(file, shape);
  if (!differences.missing.empty())
    return fail(fmt::format("the tensor '{}' is missing", differences.missing.front()));
  if (!differences.misshapen.empty())
    return fail(fmt::format("a tensor has a wrong shape: {}", differences.misshapen.front()));
  if (!differences.foreign.empty()) {
    return fail(
        fmt::format("the tensor '{}' is no part of {} as it is computed here, and leaving it out "
                    "would change the results",
                    differences.foreign.front(), shape.architecture));
  }
  ModelTensors model;
  for (const auto& tensor : file.tensors()) {
    if (is_harmless(shape.architecture, tensor.name)) continue;
    if (std::ranges::find(kTensorTypes, tensor.type->type) == kTensorTypes.end())
      return std::unexpected(unsupported_type(tensor));
    model.tensors_.emplace(tensor.name, &tensor);
  }
  return model;
}

const gguf::TensorInfo* ModelTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : found->second;
}

}  // namespace trilobite::modelfile
