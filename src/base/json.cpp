#include "base/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/duration.hpp"

namespace trilobite {
namespace {

bool is_number(const Json& value) { return value.is_number(); }
bool is_text(const Json& value) { return value.is_string(); }
bool is_boolean(const Json& value) { return value.is_boolean(); }
bool is_array(const Json& value) { return value.is_array(); }
bool is_text_list(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, is_text);
}
bool is_number_list(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, is_number);
}
bool is_integer(const Json& value) {
  if (value.is_number_integer()) return true;
  // 3.0 is accepted: many tools write every number with a decimal point.
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::isfinite(number) && number == std::floor(number) && std::fabs(number) < 9e15;
}
bool is_duration(const Json& value) { return value.is_string() || value.is_number(); }

int64_t to_integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return INT64_MAX;
  return value.is_number_float() ? static_cast<int64_t>(value.get<double>()) : value.get<int64_t>();
}

/// nlohmann's messages start with "[json.exception...] parse error at line 1, column 2: ".
std::string readable(std::string_view what) {
  const auto start = what.find("parse error at ");
  return std::string(start == std::string_view::npos ? what : what.substr(start));
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& problem) {
    return fail(fmt::format("not valid JSON: {}", readable(problem.what())));
  }
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string json_ascii_line(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}
std::string json_document(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string_view json_type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return "true or false";
    case Json::value_t::string: return "text";
    case Json::value_t::array: return "a list";
    case Json::value_t::object: return "an object";
    default: return "a number";
  }
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

ObjectReader::ObjectReader(const Json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object_.is_object()) {
    first_problem_ =
        Error(fmt::format("{}: must be an object, not {}", place_.empty() ? "the file" : place_,
                          json_type_name(object_)));
  }
}

std::string ObjectReader::place_of(std::string_view key) const {
  return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

bool ObjectReader::has(std::string_view key) const {
  return object_.is_object() && object_.contains(key) && !object_.at(std::string(key)).is_null();
}

void ObjectReader::problem(std::string_view key, std::string_view what) {
  if (!first_problem_) first_problem_ = Error(fmt::format("{}: {}", place_of(key), what));
}

void ObjectReader::require(std::string_view key) {
  if (!has(key)) problem(key, "is missing");
}

const Json* ObjectReader::member(std::string_view key) {
  known_.emplace_back(key);
  return has(key) ? &object_.at(std::string(key)) : nullptr;
}

const Json* ObjectReader::find(std::string_view key, const char* expected,
                               bool (*fits)(const Json&)) {
  const Json* value = member(key);
  if (value == nullptr) return nullptr;
  if (fits(*value)) return value;
  problem(key, fmt::format("must be {}, not {}", expected, json_type_name(*value)));
  return nullptr;
}

const Json* ObjectReader::array(std::string_view key) { return find(key, "a list", is_array); }

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const Json* value = find(key, "true or false", is_boolean);
  return value ? std::optional(value->get<bool>()) : std::nullopt;
}

std::optional<int64_t> ObjectReader::integer(std::string_view key, IntegerRange range) {
  const Json* value = find(key, "a whole number", is_integer);
  if (value == nullptr) return std::nullopt;
  const int64_t number = to_integer(*value);
  if (number >= range.minimum && number <= range.maximum) return number;
  problem(key, fmt::format("{} is not between {} and {}", number, range.minimum, range.maximum));
  return std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view key) {
  const Json* value = find(key, "a number", is_number);
  return value ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::string> ObjectReader::text(std::string_view key) {
  const Json* value = find(key, "text", is_text);
  return value ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::optional<std::vector<std::string>> ObjectReader::texts(std::string_view key) {
  const Json* value = find(key, "a list of texts", is_text_list);
  return value ? std::optional(value->get<std::vector<std::string>>()) : std::nullopt;
}

std::optional<std::vector<double>> ObjectReader::numbers(std::string_view key) {
  const Json* value = find(key, "a list of numbers", is_number_list);
  return value ? std::optional(value->get<std::vector<double>>()) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> ObjectReader::duration(std::string_view key) {
  const Json* value = find(key, "a duration such as \"30s\"", is_duration);
  if (value == nullptr) return std::nullopt;
  const auto text =
      value->is_string() ? value->get<std::string>() : fmt::format("{}", value->get<double>());
  const auto parsed = parse_duration(text);
  if (parsed) return *parsed;
  problem(key, parsed.error().message());
  return std::nullopt;
}

Result<void> ObjectReader::finish_allowing_more() const {
  if (first_problem_) return std::unexpected(*first_problem_);
  return {};
}

Result<void> ObjectReader::finish() {
  if (auto done = finish_allowing_more(); !done) return done;
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(known_, key) == known_.end()) {
      return fail(
          fmt::format("{}: unknown key; known here: {}", place_of(key), fmt::join(known_, ", ")));
    }
  }
  return {};
}

}  // namespace trilobite
