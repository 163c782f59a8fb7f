#pragma once
// Base64 (RFC 4648), as tiktoken's rank files and tokenizer.json use it.

#include <optional>
#include <string>
#include <string_view>

namespace trilobite {

/// Nothing when `text` is not base64; padding may be missing.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace trilobite
