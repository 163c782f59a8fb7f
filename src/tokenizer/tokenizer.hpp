#pragma once
// The tokenizer inside the engine: trilobite/tokenizer.hpp, and loading from a GGUF file that is
// open already.

#include "gguf/gguf_file.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// From the metadata of a model; nothing of `file` is referred to afterwards.
Result<Tokenizer> load_tokenizer(const gguf::Gguf& file);
/// As Tokenizer::load.
inline Result<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  return Tokenizer::load(path);
}

}  // namespace trilobite
