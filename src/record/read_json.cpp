#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/parse_number.hpp"
#include "record/check_record.hpp"
#include "record/record_fields.hpp"
#include "record/record_json.hpp"

namespace trilobite {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

std::optional<double> infinite_number(const Json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value == kInfinite) return kInfinity;
  if (value == kMinusInfinite) return -kInfinity;
  return std::nullopt;
}

/// The visitor of `describe` that fills a part of a record from a JSON object. Reading goes on
/// after a problem; `problem` keeps the first one of the whole record.
class MemberReader {
 public:
  MemberReader(const Json& json, std::string place, std::optional<Error>& problem)
      : object_(json, std::move(place)), problem_(problem) {}

  void required(const char* key, auto& value) {
    object_.require(key);
    read(key, value);
  }
  void optional(const char* key, auto& value) { read(key, value); }
  void sparse(const char* key, auto& value) { read(key, value); }
  void positive(const char* key, unsigned& value) {
    object_.require(key);
    read_whole(key, value, 1);
  }
  void figure(const char* key, double& value) { value = object_.number(key).value_or(kNotANumber); }

  void finish() {
    const auto done = object_.finish_allowing_more();
    if (!done && !problem_) problem_ = done.error();
  }

 private:
  /// Leaves `value` as it is when the member is missing or of the wrong type.
  template <typename T>
  static void assign(T& value, std::optional<T> found) {
    if (found) value = *std::move(found);
  }
  void read(const char* key, bool& value) { assign(value, object_.boolean(key)); }
  void read(const char* key, double& value) { assign(value, object_.number(key)); }
  void read(const char* key, std::string& value) { assign(value, object_.text(key)); }
  void read(const char* key, std::vector<std::string>& value) { assign(value, object_.texts(key)); }
  void read(const char* key, std::vector<double>& value) { assign(value, object_.numbers(key)); }
  void read(const char* key, std::optional<double>& value) { value = object_.number(key); }
  void read(const char* key, std::integral auto& value) { read_whole(key, value, 0); }
  void read(const char* key, std::vector<uint64_t>& value);
  void read(const char* key, Interval& value);
  void read(const char* key, Status& value);
  template <typename Value>
  void read(const char* key, std::map<std::string, Value>& values);
  template <typename Part>
  void read(const char* key, std::vector<Part>& parts);
  template <typename Part>
  void read(const char* key, std::optional<Part>& part);
  template <typename Part>
  void read(const char* key, Part& part);

  template <typename T>
  void read_whole(const char* key, T& value, int64_t minimum);

  ObjectReader object_;
  std::optional<Error>& problem_;
};

template <typename Part>
Part read_part(const Json& json, const std::string& place, std::optional<Error>& problem) {
  Part part;
  MemberReader members(json, place, problem);
  describe(members, part);
  members.finish();
  return part;
}

template <typename T>
void MemberReader::read_whole(const char* key, T& value, int64_t minimum) {
  // A seed may need all 64 bits; everything else stays below 2^53, which other programs can read.
  if constexpr (std::same_as<T, uint64_t>) {
    const Json* json = object_.member(key);
    if (json != nullptr && json->is_number_unsigned()) {
      value = json->get<uint64_t>();
      return;
    }
  }
  const ObjectReader::IntegerRange any;
  const auto largest = static_cast<uint64_t>(std::numeric_limits<T>::max());
  const auto maximum = std::min(static_cast<uint64_t>(any.maximum), largest);
  const auto found = object_.integer(key, {minimum, static_cast<int64_t>(maximum)});
  if (found) value = static_cast<T>(*found);
}

void MemberReader::read(const char* key, std::vector<uint64_t>& value) {
  const Json* list = object_.array(key);
  if (list == nullptr) return;
  if (std::ranges::all_of(*list, [](const Json& entry) { return entry.is_number_unsigned(); })) {
    value = list->get<std::vector<uint64_t>>();
  } else {
    object_.problem(key, "must be a list of whole numbers");
  }
}

void MemberReader::read(const char* key, Interval& value) {
  const auto ends = object_.numbers(key).value_or(std::vector<double>());
  if (ends.size() == 2) {
    value = {ends[0], ends[1]};
  } else {
    object_.problem(key, "must be a list of two numbers");
  }
}

void MemberReader::read(const char* key, Status& value) {
  const auto name = object_.text(key).value_or("");
  if (const auto known = status_from_name(name)) {
    value = *known;
  } else {
    object_.problem(key, fmt::format("'{}' is none of ok, skipped, failed, timeout", name));
  }
}

template <typename Value>
void MemberReader::read(const char* key, std::map<std::string, Value>& values) {
  const Json* json = object_.member(key);
  if (json == nullptr) return;
  MemberReader members(*json, object_.place_of(key), problem_);
  if (json->is_object()) {
    for (const auto& [name, value] : json->items()) {
      if constexpr (std::is_same_v<Value, double>) {
        if (const auto infinite = infinite_number(value)) {
          values[name] = *infinite;
          (void)members.object_.member(name);  // it has been read
          continue;
        }
        values[name] = kNotANumber;  // which was written as null
      }
      members.read(name.c_str(), values[name]);
    }
  }
  members.finish();
}

template <typename Part>
void MemberReader::read(const char* key, std::vector<Part>& parts) {
  const Json* json = object_.array(key);
  for (size_t i = 0; json != nullptr && i < json->size(); ++i) {
    const auto place = fmt::format("{}[{}]", object_.place_of(key), i);
    parts.push_back(read_part<Part>((*json)[i], place, problem_));
  }
}

template <typename Part>
void MemberReader::read(const char* key, std::optional<Part>& part) {
  const Json* json = object_.member(key);
  if (json != nullptr) part = read_part<Part>(*json, object_.place_of(key), problem_);
}

template <typename Part>
void MemberReader::read(const char* key, Part& part) {
  const Json* json = object_.member(key);
  if (json != nullptr) part = read_part<Part>(*json, object_.place_of(key), problem_);
}

template <typename Part>
Result<Part> part_or_problem(const Json& json, const std::string& place) {
  std::optional<Error> problem;
  auto part = read_part<Part>(json, place, problem);
  if (problem) return std::unexpected(*std::move(problem));
  return part;
}

/// "trilobite.record/1": the name must be ours, the number not above what we know.
Result<void> check_schema(const Json& json) {
  if (!json.is_object() || !json.contains("schema") || !json.at("schema").is_string()) {
    return fail("not a Trilobite record: it has no \"schema\"");
  }
  const auto schema = json.at("schema").get<std::string>();
  if (schema == kRecordSchema) return {};
  const auto slash = schema.find('/');
  const auto number =
      slash == std::string::npos ? Result<int64_t>(fail("")) : parse_int(schema.substr(slash + 1));
  if (schema.substr(0, slash) != "trilobite.record" || !number) {
    return fail(fmt::format("not a Trilobite record: its schema is '{}'", schema));
  }
  return fail(fmt::format("the record has schema {}, this program reads {}; use a newer Trilobite",
                          schema, kRecordSchema));
}

Result<RunRecord> read_record(const Json& json) {
  if (auto known = check_schema(json); !known) return fail_from(known);
  RunRecord record;
  std::optional<Error> problem;
  MemberReader members(json, "", problem);
  describe(members, record);
  members.required("benchmarks", record.benchmarks);
  members.finish();
  if (problem) return std::unexpected(*std::move(problem));
  return record;
}

}  // namespace

Result<RunRecord> record_from_json_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail_from(json);
  auto record = read_record(*json);
  if (!record) return record;
  if (auto consistent = check_record(*record); !consistent) return fail_from(consistent);
  return record;
}

Result<RunRecord> load_record(const Path& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  auto record = record_from_json_text(*text);
  if (!record) return fail_from(record, path.string());
  return record;
}

Result<BenchmarkResult> benchmark_from_json(const Json& json, const std::string& place) {
  return part_or_problem<BenchmarkResult>(json, place);
}

Result<MachineLimits> limits_from_json(const Json& json, const std::string& place) {
  return part_or_problem<MachineLimits>(json, place);
}

}  // namespace trilobite
