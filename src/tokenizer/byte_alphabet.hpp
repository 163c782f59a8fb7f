#pragma once
// GPT-2's way to write bytes as printable characters: " " is "Ġ", "\n" is "Ċ". Files use it, we
// keep the bytes.

#include <string>
#include <string_view>

namespace trilobite {

/// Appends the bytes that `text` stands for; text with a character outside the alphabet (special
/// tokens) stands for itself.
void append_bytes_of(std::string_view text, std::string& out);
std::string bytes_of(std::string_view text);

}  // namespace trilobite
