#pragma once
// SHA-256 (FIPS 180-4), to compare with published hashes in tests.

#include <string>
#include <string_view>

namespace trilobite {

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace trilobite
