#pragma once
// The models that benchmarks run: files of true shape, made once and kept, and the engine that was
// loaded last.

#include <string>

#include "fixtures/make_fixture.hpp"
#include "model/engine.hpp"

namespace trilobite::benchmarks {

struct BenchmarkModel {
  std::string architecture;
  std::string size;
  std::string type;  // of the linear layers; "-": as the shape is usually shipped
};

/// Where model files are kept: $TRILOBITE_MODELS, else a folder in the user's cache.
Path models_folder();

/// The file of a model, made now unless it is there. Errors (environment): too little room on the
/// disk.
Result<Path> model_file(const BenchmarkModel& model);

/// Errors (environment): less free memory than the model needs.
Result<void> check_memory_for(const Path& file);

/// The engine of this file with these options; the one that was loaded before is dropped.
Result<model::Engine*> engine_for(const Path& file, const model::EngineOptions& options);

}  // namespace trilobite::benchmarks
