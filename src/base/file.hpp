#pragma once
// Whole files in and out. Writing is atomic: readers see the old file or the new one, never half.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite {

using Path = std::filesystem::path;

/// The whole content; files above `limit_bytes` are refused before they are read.
Result<std::string> read_file(const Path& path, size_t limit_bytes = size_t{1} << 30);

/// Writes beside the target and renames over it. Creates missing folders.
Result<void> write_file_atomically(const Path& path, std::string_view content);

/// Tells now, before hours of work, whether write_file_atomically would succeed.
Result<void> check_writable(const Path& path);

}  // namespace trilobite
