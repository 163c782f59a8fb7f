#include "modelfile/quantize_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gguf/writer.hpp"
#include "modelfile/file_type.hpp"
#include "modelfile/i2s_layout.hpp"
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

/// A tensor and the type that it will have.
struct Step {
  const gguf::TensorInfo* tensor;
  TensorType type;
};

void copy_metadata(const gguf::Gguf& gguf, TensorType type, std::span<const Step> steps,
                   gguf::Writer& writer) {
  constexpr std::string_view kFileType = "general.file_type";
  constexpr std::string_view kVersion = "general.quantization_version";
  for (const auto& entry : gguf.metadata()) {
    if (entry.key != kFileType && entry.key != kVersion && entry.key != kI2sLayoutKey)
      writer.set(entry.key, entry.value);
  }
  if (std::ranges::find(steps, TensorType::i2_s, &Step::type) != steps.end())
    writer.set_text(kI2sLayoutKey, name_of(kWrittenI2sLayout));
  writer.set_u32(kFileType, file_type_of(type));
  writer.set_u32(kVersion, kQuantizationVersion);
}

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

/// Where the tensors go, and how their I2_S is to be read.
struct Conversion {
  gguf::Writer& writer;
  ThreadPool& pool;
  quant::I2sLayout i2s_layout;

  /// A tensor that has the wanted type already is taken over byte by byte.
  Result<void> write(const Step& step, TypeOutcome& outcome) const;
};

Result<void> Conversion::write(const Step& step, TypeOutcome& outcome) const {
  const auto& tensor = *step.tensor;
  ++outcome.tensors;
  outcome.elements += tensor.elements();
  outcome.bytes_before += tensor.data.size();
  const bool same_layout = step.type != TensorType::i2_s || i2s_layout == kWrittenI2sLayout;
  if (tensor.type->type == step.type && same_layout) {
    outcome.bytes_after += tensor.data.size();
    return writer.append(tensor.data);
  }
  auto converted = convert(tensor, step.type, pool, i2s_layout);
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
  copy_metadata(source.contents(), request.type, steps, writer);
  for (const auto& [tensor, type] : steps) {
    const auto& sizes = tensor->dimensions;
    auto declared = writer.declare({std::string(tensor->name),
                                    {sizes.begin(), sizes.begin() + tensor->dimension_count},
                                    type});
    if (!declared) return fail_from(declared);
  }
  if (auto started = writer.start(target); !started) return fail_from(started);
  const Conversion conversion{writer, pool,
                              choose_i2s_layout(source.contents(), request.i2s_layout)};
  for (size_t i = 0; i < steps.size(); ++i) {
    if (request.progress) request.progress(steps[i].tensor->name, i, steps.size());
    auto done = conversion.write(steps[i], report.by_type[steps[i].type]);
    if (!done) return fail_from(done);
  }
  if (auto done = writer.finish(); !done) return fail_from(done);
  std::error_code ignored;
  report.bytes_after = std::filesystem::file_size(target, ignored);
  return report;
}

}  // namespace trilobite::modelfile
