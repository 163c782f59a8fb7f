#pragma once
// `trilobite inspect` for GGUF files: metadata, tensors, sizes, and whether the file is whole.

#include "base/file.hpp"

namespace trilobite::cli {

struct ModelInspection {
  bool tensors = false;  // list every one
  bool deep = false;     // read every weight
  bool json = false;
};

/// Whether the file begins as a GGUF file does; a file that cannot be read does not.
bool is_model_file(const Path& path);

/// The exit code: 1 when something is wrong with the model, 2 when the file cannot be read at all.
int inspect_model(const Path& path, const ModelInspection& options);

}  // namespace trilobite::cli
