#include <cmath>

#include "record/record_fields.hpp"
#include "record/record_json.hpp"

namespace trilobite {
namespace {

template <typename Part>
Json object_of(const Part& part);

/// The visitor of `describe` that turns a part of a record into a JSON object.
class MemberWriter {
 public:
  explicit MemberWriter(Json start) : json_(std::move(start)) {}
  Json take() && { return std::move(json_); }

  void required(const char* key, const auto& value) { json_[key] = json_of(value); }
  void optional(const char* key, const auto& value) { json_[key] = json_of(value); }
  void positive(const char* key, unsigned value) { json_[key] = value; }
  void figure(const char* key, double value) { json_[key] = number_or_null(value); }
  template <typename T>
  void sparse(const char* key, const T& value) {
    if (value != T()) json_[key] = json_of(value);
  }

 private:
  static Json json_of(double value) { return number_or_null(value); }
  static Json json_of(const std::integral auto& value) { return value; }
  static Json json_of(const std::string& value) { return value; }
  static Json json_of(const std::vector<std::string>& values) { return values; }
  static Json json_of(const std::vector<double>& values) { return values; }
  static Json json_of(const std::vector<uint64_t>& values) { return values; }
  static Json json_of(Status status) { return name_of(status); }
  static Json json_of(const Interval& interval) {
    return {number_or_null(interval.low), number_or_null(interval.high)};
  }
  static Json json_of(const std::map<std::string, double>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values) {
      // JSON has no infinite numbers, and an exact format's signal-to-noise ratio is one.
      json[name] =
          std::isinf(value) ? Json(value > 0 ? kInfinite : kMinusInfinite) : number_or_null(value);
    }
    return json;
  }
  template <typename Value>
  static Json json_of(const std::map<std::string, Value>& values) {
    return values;
  }
  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <typename Part>
  static Json json_of(const std::vector<Part>& parts) {
    Json list = Json::array();
    for (const auto& part : parts) list.push_back(object_of(part));
    return list;
  }
  template <typename Part>
  static Json json_of(const Part& part) {
    return object_of(part);
  }

  Json json_;
};

template <typename Part>
Json object_of(const Part& part) {
  MemberWriter members(Json::object());
  describe(members, part);
  return std::move(members).take();
}

Json header_of(const RunRecord& record) {
  MemberWriter members(Json{{"schema", kRecordSchema}});
  describe(members, record);
  return std::move(members).take();
}

}  // namespace

Json to_json(const Throughput& throughput) { return object_of(throughput); }
Json to_json(const BenchmarkResult& result) { return object_of(result); }
Json to_json(const Environment& environment) { return object_of(environment); }
Json to_json(const MachineLimits& limits) { return object_of(limits); }

std::string to_json_text(const RunRecord& record) {
  std::string text = json_document(header_of(record));
  text.resize(text.size() - 3);  // "\n}\n"
  text += ",\n  \"benchmarks\": [";
  const char* separator = "\n    ";
  for (const auto& result : record.benchmarks) {
    text += separator + json_line(to_json(result));
    separator = ",\n    ";
  }
  text += record.benchmarks.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return text;
}

}  // namespace trilobite
