#include "modelfile/quantize_model.hpp"

#include <fmt/format.h>

#include "gguf/writer.hpp"
#include "modelfile/file_type.hpp"
#include "modelfile/model_shape.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::modelfile {
namespace {

using gguf::TensorType;

bool has_four_bits_or_fewer(TensorType type) {
  return is_ternary(type) || type == TensorType::q4_0 || type == TensorType::q4_1 ||
         type == TensorType::q4_k;
}

/// Which type each tensor is to have.
class Plan {
 public:
  Plan(const gguf::Gguf& gguf, const QuantizeRequest& request) : request_(request) {
    const bool tied = gguf.find_tensor("output.weight") == nullptr;
    const auto six_bits_if = [&](bool wanted) { return wanted ? TensorType::q6_k : request.type; };
    head_ = request.head.value_or(six_bits_if(has_four_bits_or_fewer(request.type)));
    embedding_ = request.embedding.value_or(tied ? head_ : six_bits_if(is_ternary(request.type)));
  }

  TensorType wanted(const gguf::TensorInfo& tensor) const {
    const auto role = role_of(tensor.name);
    if (tensor.dimension_count == 1 || role == TensorRole::table) return TensorType::f32;
    if (request_.planned) return request_.planned(tensor.name);
    if (role == TensorRole::embedding) return embedding_;
    return role == TensorRole::head ? head_ : request_.type;
  }

 private:
  const QuantizeRequest& request_;
  TensorType head_;
  TensorType embedding_;
};

void copy_metadata(const gguf::Gguf& gguf, TensorType type, gguf::Writer& writer) {
  constexpr std::string_view kFileType = "general.file_type";
  constexpr std::string_view kVersion = "general.quantization_version";
  for (const auto& entry : gguf.metadata()) {
    if (entry.key != kFileType && entry.key != kVersion) writer.set(entry.key, entry.value);
  }
  writer.set_u32(kFileType, file_type_of(type));
  writer.set_u32(kVersion, kQuantizationVersion);
}

/// A tensor and the type that it will have.
struct Step {
  const gguf::TensorInfo* tensor;
  TensorType type;
};

std::vector<Step> plan_steps(const gguf::Gguf& gguf, const QuantizeRequest& request,
                             QuantizeReport& report) {
  const Plan plan(gguf, request);
  std::vector<Step> steps;
  for (const auto& tensor : gguf.tensors()) {
    const auto wanted = plan.wanted(tensor);
    const auto type = fitting_type(wanted, tensor.columns());
    if (type != wanted) {
      report.exceptions.push_back(
          fmt::format("'{}' becomes {}: its {} columns are no whole {} "
                      "blocks",
                      tensor.name, gguf::name_of(type), tensor.columns(), gguf::name_of(wanted)));
    }
    steps.push_back({&tensor, type});
  }
  return steps;
}

/// A tensor that has the wanted type already is taken over byte by byte.
Result<void> write_tensor(const Step& step, gguf::Writer& writer, ThreadPool& pool,
                          TypeOutcome& outcome) {
  const auto& tensor = *step.tensor;
  ++outcome.tensors;
  outcome.elements += tensor.elements();
  outcome.bytes_before += tensor.data.size();
  if (tensor.type->type == step.type) {
    outcome.bytes_after += tensor.data.size();
    return writer.append(tensor.data);
  }
  auto converted = convert(tensor, step.type, pool);
  if (!converted) return fail_from(converted);
  ++outcome.converted;
  outcome.bytes_after += converted->bytes.size();
  outcome.errors.add(converted->errors);
  return writer.append(std::as_bytes(std::span(converted->bytes)));
}

}  // namespace

Result<QuantizeReport> quantize_model(const gguf::GgufFile& source, const QuantizeRequest& request,
                                      const Path& target, ThreadPool& pool) {
  QuantizeReport report{.bytes_before = source.file().bytes().size()};
  const auto steps = plan_steps(source.contents(), request, report);
  gguf::Writer writer;
  copy_metadata(source.contents(), request.type, writer);
  for (const auto& [tensor, type] : steps) {
    const auto& sizes = tensor->dimensions;
    auto declared = writer.declare({std::string(tensor->name),
                                    {sizes.begin(), sizes.begin() + tensor->dimension_count},
                                    type});
    if (!declared) return fail_from(declared);
  }
  if (auto started = writer.start(target); !started) return fail_from(started);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (request.progress) request.progress(steps[i].tensor->name, i, steps.size());
    auto done = write_tensor(steps[i], writer, pool, report.by_type[steps[i].type]);
    if (!done) return fail_from(done);
  }
  if (auto done = writer.finish(); !done) return fail_from(done);
  std::error_code ignored;
  report.bytes_after = std::filesystem::file_size(target, ignored);
  return report;
}

}  // namespace trilobite::modelfile
