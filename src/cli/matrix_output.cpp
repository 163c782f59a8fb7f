#include "cli/matrix_output.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/file.hpp"

namespace trilobite::cli {
namespace {

bool is_binary(const std::string& path) { return path.ends_with(".bin"); }

}  // namespace

Result<void> check_matrix_path(const std::string& path) {
  if (!is_binary(path) && !path.ends_with(".json"))
    return fail(fmt::format("--output {}: the name should end in .bin or .json", path));
  return check_writable(path);
}

std::string matrix_json(std::span<const float> values, size_t columns, const Json& facts) {
  Json json = facts;
  json["shape"] = {values.size() / columns, columns};
  json["rows"] = Json::array();
  for (size_t start = 0; start < values.size(); start += columns) {
    Json row = Json::array();
    for (const float value : values.subspan(start, columns))
      row.push_back(number_or_null(static_cast<double>(value)));
    json["rows"].push_back(std::move(row));
  }
  return json_line(json) + "\n";
}

Result<void> write_matrix(const std::string& path, std::span<const float> values, size_t columns,
                          const Json& facts) {
  if (!is_binary(path)) return write_file_atomically(path, matrix_json(values, columns, facts));
  static_assert(std::endian::native == std::endian::little);
  const auto bytes = std::as_bytes(values);
  return write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace trilobite::cli
