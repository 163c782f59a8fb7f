#include "cli/inspect_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "base/json.hpp"
#include "base/thread_pool.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "gguf/gguf_file.hpp"
#include "model/config.hpp"
#include "modelfile/check_model.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"

namespace trilobite::cli {
namespace {

using gguf::Gguf;
using gguf::TensorInfo;
using modelfile::Finding;

// Arrays show as many elements as fit a line.
constexpr size_t kShownElements = 8;

/// A number of any element type as JSON.
Json element_json(const gguf::Array& array, size_t index) {
  using gguf::ValueType;
  switch (array.type) {
    case ValueType::u8: return array.number<uint8_t>(index);
    case ValueType::i8: return array.number<int8_t>(index);
    case ValueType::u16: return array.number<uint16_t>(index);
    case ValueType::i16: return array.number<int16_t>(index);
    case ValueType::u32: return array.number<uint32_t>(index);
    case ValueType::i32: return array.number<int32_t>(index);
    case ValueType::f32: return number_or_null(array.number<float>(index));
    case ValueType::boolean: return array.number<uint8_t>(index) != 0;
    case ValueType::u64: return array.number<uint64_t>(index);
    case ValueType::i64: return array.number<int64_t>(index);
    case ValueType::f64: return number_or_null(array.number<double>(index));
    case ValueType::text: return array.texts[index];
    case ValueType::array: break;
  }
  return fmt::format("{} of {}", array.arrays[index].count, name_of(array.arrays[index].type));
}

/// Long arrays are cut: the first elements and the count.
Json value_json(const gguf::Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, gguf::Array>) {
          Json first = Json::array();
          for (size_t i = 0; i < std::min(held.count, kShownElements); ++i)
            first.push_back(element_json(held, i));
          return {{"array_of", name_of(held.type)}, {"count", held.count}, {"first", first}};
        } else if constexpr (std::is_floating_point_v<T>) {
          return number_or_null(held);
        } else {
          return held;
        }
      },
      value);
}

std::string value_text(const gguf::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return printable(*text);
  if (const auto* number = std::get_if<float>(&value)) return fmt::format("{}", *number);
  const auto json = value_json(value);
  if (!std::holds_alternative<gguf::Array>(value)) return json_line(json);
  std::string elements;
  for (const auto& element : json["first"])
    elements += (elements.empty() ? "" : ", ") + json_line(element);
  return printable(fmt::format("{} of {}: {}{}", json["count"].get<size_t>(),
                               json["array_of"].get<std::string>(), elements,
                               json["count"].get<size_t>() > kShownElements ? ", ..." : ""));
}

double bits_per_weight(uint64_t bytes, uint64_t elements) {
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

struct Total {
  size_t tensors = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  void add(const TensorInfo& tensor) {
    ++tensors;
    elements += tensor.elements();
    bytes += tensor.data.size();
  }
};

struct Totals {
  std::map<std::string, Total> by_type;
  Total all;
};

Totals totals_of(const Gguf& gguf) {
  Totals totals;
  for (const auto& tensor : gguf.tensors()) {
    totals.by_type[std::string(tensor.type->name)].add(tensor);
    totals.all.add(tensor);
  }
  return totals;
}

Json total_json(const Total& total) {
  return {{"tensors", total.tensors},
          {"elements", total.elements},
          {"bytes", total.bytes},
          {"bits_per_weight",
           total.elements == 0 ? Json() : Json(bits_per_weight(total.bytes, total.elements))}};
}

/// Where the data of a tensor begins, counted from the start of the file.
uint64_t offset_in(std::span<const std::byte> file, const TensorInfo& tensor) {
  return static_cast<uint64_t>(tensor.data.data() - file.data());
}

struct Inspection {
  const gguf::GgufFile& file;
  std::vector<Finding> findings;
  ModelInspection options;

  bool sound() const { return std::ranges::none_of(findings, &Finding::problem); }
  Json json() const;
  std::string text() const;
};

Json Inspection::json() const {
  const Gguf& gguf = file.contents();
  Json metadata = Json::object();
  for (const auto& entry : gguf.metadata())
    metadata[std::string(entry.key)] = value_json(entry.value);
  Json tensors = Json::array();
  for (const auto& tensor : gguf.tensors()) {
    tensors.push_back(
        {{"name", tensor.name},
         {"type", tensor.type->name},
         {"shape", std::vector<uint64_t>(
                       tensor.dimensions.begin(),
                       tensor.dimensions.begin() + static_cast<ptrdiff_t>(tensor.dimension_count))},
         {"offset", offset_in(file.file().bytes(), tensor)},
         {"bytes", tensor.data.size()},
         {"bits_per_weight", bits_per_weight(tensor.data.size(), tensor.elements())}});
  }
  const auto totals = totals_of(gguf);
  Json by_type = Json::object();
  for (const auto& [name, total] : totals.by_type) by_type[name] = total_json(total);
  Json problems = Json::array();
  Json notes = Json::array();
  for (const auto& finding : findings) (finding.problem ? problems : notes).push_back(finding.text);
  return {{"gguf_version", gguf.version()},
          {"file_bytes", file.file().bytes().size()},
          {"alignment", gguf.alignment()},
          {"metadata", metadata},
          {"tensors", tensors},
          {"by_type", by_type},
          {"total", total_json(totals.all)},
          {"sound", sound()},
          {"problems", problems},
          {"notes", notes}};
}

std::string metadata_text(const Gguf& gguf) {
  size_t widest = 0;
  for (const auto& entry : gguf.metadata()) widest = std::max(widest, entry.key.size());
  widest = std::min<size_t>(widest, 48);
  std::string text;
  for (const auto& entry : gguf.metadata()) {
    const auto value = value_text(entry.value);
    text += fmt::format("  {:<{}}  {}\n", printable(entry.key), widest, value);
  }
  return text;
}

std::string tensors_text(const Gguf& gguf) {
  Table table{.columns = {{"tensor", true}, {"type", true}, {"shape"}, {"bytes"}, {"bits/weight"}}};
  for (const auto& tensor : gguf.tensors()) {
    table.rows.push_back(
        {{printable(tensor.name)},
         {std::string(tensor.type->name)},
         {tensor.shape_text()},
         {std::to_string(tensor.data.size())},
         {fmt::format("{:.3g}", bits_per_weight(tensor.data.size(), tensor.elements()))}});
  }
  return render(table, 0, stdout_is_terminal());
}

Row total_row(std::string name, const Total& total) {
  return {
      {std::move(name)},
      {std::to_string(total.tensors)},
      {std::to_string(total.elements)},
      {human_bytes(static_cast<double>(total.bytes))},
      {total.elements == 0 ? "-"
                           : fmt::format("{:.3g}", bits_per_weight(total.bytes, total.elements))}};
}

std::string totals_text(const Gguf& gguf) {
  Table table{.columns = {{"type", true}, {"tensors"}, {"weights"}, {"size"}, {"bits/weight"}}};
  const auto totals = totals_of(gguf);
  for (const auto& [name, total] : totals.by_type) table.rows.push_back(total_row(name, total));
  table.rows.push_back(total_row("all", totals.all));
  return render(table, 0, stdout_is_terminal());
}

std::string Inspection::text() const {
  const Gguf& gguf = file.contents();
  auto text = fmt::format("GGUF version {}, {}, {} metadata entries, {} tensors\n", gguf.version(),
                          human_bytes(static_cast<double>(file.file().bytes().size())),
                          gguf.metadata().size(), gguf.tensors().size());
  text += metadata_text(gguf) + "\n";
  if (options.tensors) text += tensors_text(gguf) + "\n";
  text += totals_text(gguf) + "\n";
  for (const auto& finding : findings)
    text += fmt::format("{}: {}\n", finding.problem ? "problem" : "note", printable(finding.text));
  return text + (sound() ? fmt::format("sound{}\n", options.deep ? ", every weight read"
                                                                 : "; --deep reads every weight")
                         : "not sound\n");
}

/// What is wrong with the file, and if nothing is, why the engine would not run it all the same.
std::vector<Finding> findings_of(const Gguf& gguf, bool deep) {
  ThreadPool pool(usable_cpus());
  auto findings = modelfile::check_model(gguf, deep, pool);
  if (gguf.tensors().empty() || std::ranges::any_of(findings, &Finding::problem)) return findings;
  if (const auto config = model::read_config(gguf); !config)
    findings.push_back({true, config.error().message()});
  return findings;
}

}  // namespace

bool is_model_file(const Path& path) {
  std::array<char, 4> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.gcount() == static_cast<std::streamsize>(start.size()) &&
         gguf::looks_like_gguf(std::as_bytes(std::span(start)));
}

int inspect_model(const Path& path, const ModelInspection& options) {
  const auto file = gguf::GgufFile::open(path);
  if (!file) return report_error(file.error());
  const Inspection inspection{*file, findings_of(file->contents(), options.deep), options};
  const auto printed = print(options.json ? json_document(inspection.json()) : inspection.text());
  if (!printed) return report_error(printed.error());
  return inspection.sound() ? kFine : kGateSaidNo;
}

}  // namespace trilobite::cli
