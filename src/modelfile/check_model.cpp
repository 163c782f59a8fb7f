#include "modelfile/check_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "modelfile/i2s_layout.hpp"
#include "modelfile/model_tensors.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::modelfile {
namespace {

using Findings = std::vector<Finding>;

/// "3 tensors are missing: a, b, c"; long lists are cut.
void report_list(Findings& findings, bool problem, std::string_view what,
                 const std::vector<std::string>& items) {
  constexpr size_t kShown = 6;
  if (items.empty()) return;
  const size_t shown = std::min(items.size(), kShown);
  auto text =
      fmt::format("{} {}: {}", items.size(), what,
                  fmt::join(items.begin(), items.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  findings.push_back({problem, std::move(text)});
}

void report_differences(const gguf::Gguf& gguf, const ModelShape& shape, Findings& findings) {
  const auto differences = compare_tensors(gguf, shape);
  const auto& name = shape.architecture;
  report_list(findings, true, fmt::format("tensors that {} needs are missing", name),
              differences.missing);
  report_list(findings, true, fmt::format("tensors have a wrong shape for {}", name),
              differences.misshapen);
  report_list(findings, true,
              fmt::format("tensors are no part of {} as it is computed here, and leaving them out "
                          "would change the results",
                          name),
              differences.foreign);
  std::vector<std::string> unused;
  for (const auto& tensor : gguf.tensors()) {
    if (is_harmless(name, tensor.name)) unused.emplace_back(tensor.name);
  }
  report_list(findings, false, "tensors change nothing that is computed here", unused);
}

void check_overlaps(const gguf::Gguf& gguf, Findings& findings) {
  std::vector<const gguf::TensorInfo*> tensors;
  for (const auto& tensor : gguf.tensors()) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, [](const auto* tensor) {
    return std::pair(tensor->data.data(), tensor->data.size());
  });
  std::vector<std::string> overlapping;
  const gguf::TensorInfo* furthest = nullptr;
  const auto end_of = [](const auto* tensor) { return tensor->data.data() + tensor->data.size(); };
  for (const auto* tensor : tensors) {
    if (furthest != nullptr && tensor->data.data() < end_of(furthest))
      overlapping.push_back(fmt::format("{} and {}", furthest->name, tensor->name));
    if (furthest == nullptr || end_of(tensor) > end_of(furthest)) furthest = tensor;
  }
  report_list(findings, true, "pairs of tensors share bytes", overlapping);
}

void check_types(const gguf::Gguf& gguf, Findings& findings) {
  std::map<std::string, size_t> foreign;
  for (const auto& tensor : gguf.tensors()) {
    const auto type = tensor.type->type;
    if (std::ranges::find(kTensorTypes, type) == kTensorTypes.end())
      ++foreign[std::string(tensor.type->name)];
  }
  for (const auto& [name, count] : foreign) {
    findings.push_back(
        {false, fmt::format("{} tensors have type {}, which can be listed but not converted", count,
                            name)});
  }
}

void guess_layouts(const gguf::Gguf& gguf, bool deep, Findings& findings) {
  std::map<std::string_view, std::vector<std::string>> reasons;  // of each layout, one per tensor
  for (const auto& tensor : gguf.tensors()) {
    if (tensor.type->type != gguf::TensorType::i2_s) continue;
    const auto guess = quant::guess_i2s_layout(packed_view(tensor));
    if (!guess) {
      findings.push_back(
          {true, fmt::format("tensor '{}': {}", tensor.name, guess.error().message())});
    } else {
      reasons[name_of(guess->layout)].push_back(
          fmt::format("confidence {:.2f}: {}", guess->confidence, guess->reason));
    }
    if (!deep) break;
  }
  if (const auto said = gguf.text(kI2sLayoutKey))
    findings.push_back({false, fmt::format("the file says that its I2_S layout is {}", *said)});
  for (const auto& [layout, each] : reasons) {
    findings.push_back({false, fmt::format("I2_S layout {} in {} of the tensors looked at ({})",
                                           layout, each.size(), each.front())});
  }
}

/// The first thing that is wrong with the weights of a tensor.
std::string problem_in(const gguf::TensorInfo& tensor, quant::I2sLayout i2s_layout) {
  const bool whole = tensor.type->tensor_extra_bytes != 0;
  const size_t step = whole ? tensor.rows() : rows_at_a_time(tensor);
  for (size_t first = 0; first < tensor.rows(); first += step) {
    const auto values =
        decode_rows(tensor, first, std::min(step, tensor.rows() - first), i2s_layout);
    if (!values) return values.error().message();
    const auto bad = std::ranges::find_if_not(*values, [](float v) { return std::isfinite(v); });
    if (bad == values->end()) continue;
    const auto index = static_cast<size_t>(bad - values->begin());
    return fmt::format("tensor '{}': the weight at row {}, column {} is {}", tensor.name,
                       first + index / tensor.columns(), index % tensor.columns(), *bad);
  }
  return {};
}

void check_weights(const gguf::Gguf& gguf, ThreadPool& pool, Findings& findings) {
  std::vector<const gguf::TensorInfo*> tensors;
  for (const auto& tensor : gguf.tensors()) {
    if (std::ranges::find(kTensorTypes, tensor.type->type) != kTensorTypes.end())
      tensors.push_back(&tensor);
  }
  const auto layout = guess_i2s_layout(gguf).layout;
  std::vector<std::string> problems(tensors.size());
  pool.run([&](unsigned thread) {
    for (size_t i = thread; i < tensors.size(); i += pool.threads())
      problems[i] = problem_in(*tensors[i], layout);
  });
  for (auto& problem : problems) {
    if (!problem.empty()) findings.push_back({true, std::move(problem)});
  }
}

}  // namespace

std::vector<Finding> check_model(const gguf::Gguf& gguf, bool deep, ThreadPool& pool) {
  Findings findings;
  if (gguf.tensors().empty()) {
    findings.push_back({false, "the file holds no tensors, only metadata"});
    return findings;
  }
  if (const auto shape = read_shape(gguf)) {
    report_differences(gguf, *shape, findings);
  } else {
    findings.push_back({true, shape.error().message()});
  }
  check_overlaps(gguf, findings);
  check_types(gguf, findings);
  guess_layouts(gguf, deep, findings);
  if (deep) check_weights(gguf, pool, findings);
  return findings;
}

}  // namespace trilobite::modelfile
