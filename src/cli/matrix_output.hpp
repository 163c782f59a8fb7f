#pragma once
// Rows of floats as a file that other programs read: .bin is little-endian f32, rows in order;
// .json has the shape beside the rows.

#include <span>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"

namespace trilobite::cli {

/// `facts` are put before the rows of a JSON file. An error when the ending is neither.
Result<void> check_matrix_path(const std::string& path);
Result<void> write_matrix(const std::string& path, std::span<const float> values, size_t columns,
                          const Json& facts);
/// The JSON form as text.
std::string matrix_json(std::span<const float> values, size_t columns, const Json& facts);

}  // namespace trilobite::cli
