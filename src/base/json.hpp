#pragma once
// JSON in and out, and a reader for objects that a person may have written: every problem names the
// place ("plan.warmup: ..."), wrong types and unknown keys are errors, durations may be text.

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite {

using Json = nlohmann::ordered_json;

/// Parses the whole text. The message says line, column and what was expected.
Result<Json> parse_json(std::string_view text);

/// From Json to text, and the only way (tools/check_layers.py): names and output of other programs
/// may hold any bytes, so what is not UTF-8 is replaced by U+FFFD, never thrown.
std::string json_line(const Json& value);        // without a newline
std::string json_ascii_line(const Json& value);  // other characters as \uXXXX
std::string json_document(const Json& value);    // indented, ends with a newline

/// "an object", "a number", ... for messages.
std::string_view json_type_name(const Json& value);

/// JSON has no NaN or infinity; a figure that does not exist is null.
Json number_or_null(double value);

/// Reads one JSON object member by member. Reading goes on after a problem; the first one is kept
/// and `finish` returns it, so callers read all members and check once:
///     ObjectReader reader(json, "config");
///     config.threads = reader.integer("threads", {.minimum = 1}).value_or(2);
///     if (auto done = reader.finish(); !done) return fail_from(done);
class ObjectReader {
 public:
  struct IntegerRange {
    int64_t minimum = 0;
    int64_t maximum = int64_t{1} << 53;
  };

  ObjectReader(const Json& object, std::string place);

  bool has(std::string_view key) const;
  /// Each returns nothing when the key is absent (or null) or has the wrong type; the latter is
  /// remembered as a problem.
  std::optional<bool> boolean(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, IntegerRange range);
  std::optional<int64_t> integer(std::string_view key) { return integer(key, IntegerRange()); }
  std::optional<double> number(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);
  /// "30s", "100ms" or a number of seconds.
  std::optional<std::chrono::nanoseconds> duration(std::string_view key);
  /// The raw member, marked as known; nullptr when absent or null.
  const Json* member(std::string_view key);
  /// The member, which must be an array.
  const Json* array(std::string_view key);

  /// Remembers a problem at `key` unless there is one already.
  void problem(std::string_view key, std::string_view what);
  /// Says that `key` is missing unless it is there; for members that have no default.
  void require(std::string_view key);
  /// "config.threads", for messages made elsewhere.
  std::string place_of(std::string_view key) const;

  /// The first problem; otherwise an error if the object has a key that nobody asked for.
  Result<void> finish();
  /// As `finish`, but unknown keys are accepted (files written by a later version may have more).
  Result<void> finish_allowing_more() const;

 private:
  const Json* find(std::string_view key, const char* expected, bool (*fits)(const Json&));

  const Json& object_;
  std::string place_;
  std::vector<std::string> known_;
  std::optional<Error> first_problem_;
};

}  // namespace trilobite
