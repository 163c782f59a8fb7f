#include "model_inference_models.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <tuple>

#include "base/thread_pool.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::benchmarks {
namespace {

double gigabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

/// Memory that can be had without swapping; 0 when the kernel does not tell.
uint64_t available_memory_bytes() {
  const auto text = read_file("/proc/meminfo");
  const auto at = text ? text->find("MemAvailable:") : std::string::npos;
  if (at == std::string::npos) return 0;
  return std::strtoull(text->c_str() + at + 13, nullptr, 10) * 1024;
}

Result<void> check_room(const Path& folder, uint64_t bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available > bytes + (uint64_t{1} << 30)) return {};
  return fail(fmt::format("the model takes {:.1f} GB, and {} has {:.1f} GB left; TRILOBITE_MODELS "
                          "names another folder",
                          gigabytes(bytes), folder.string(), gigabytes(space.available)),
              ErrorKind::environment);
}

/// About what the file will take.
Result<uint64_t> expected_bytes(const fixtures::FixtureRequest& request) {
  const auto named = fixtures::find_shape(request.architecture, request.size);
  if (!named) return fail_from(named);
  const auto type = gguf::facts_of(request.type.value_or(named->type));
  uint64_t bytes = 0;
  for (const auto& tensor : modelfile::expected_tensors(named->shape)) {
    uint64_t elements = 1;
    for (const auto dimension : tensor.dimensions) elements *= dimension;
    bytes += elements * type.block_bytes / type.block_columns;
  }
  return bytes;
}

}  // namespace

Path models_folder() {
  if (const char* named = std::getenv("TRILOBITE_MODELS"); named != nullptr) return named;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr)
    return Path(cache) / "trilobite" / "models";
  const char* home = std::getenv("HOME");
  return Path(home != nullptr ? home : "/tmp") / ".cache" / "trilobite" / "models";
}

Result<Path> model_file(const BenchmarkModel& model) {
  fixtures::FixtureRequest request{.architecture = model.architecture, .size = model.size};
  if (model.type != "-") {
    const auto type = modelfile::parse_tensor_type(model.type);
    if (!type) return fail_from(type);
    request.type = *type;
  }
  const auto path = models_folder() / fixtures::file_name_of(request);
  if (std::filesystem::exists(path)) return path;
  const auto bytes = expected_bytes(request);
  if (!bytes) return fail_from(bytes);
  if (auto room = check_room(models_folder(), *bytes); !room) return fail_from(room);
  ThreadPool pool(usable_cpus());
  const auto made = fixtures::make_fixture(request, models_folder(), pool);
  if (!made) return fail_from(made);
  return made->path;
}

Result<void> check_memory_for(const Path& file) {
  std::error_code ignored;
  const uint64_t bytes = std::filesystem::file_size(file, ignored);
  const uint64_t available = available_memory_bytes();
  // The file, what is packed from it, caches and scratch.
  const uint64_t needed = 2 * bytes + (uint64_t{512} << 20);
  if (available == 0 || needed <= available) return {};
  return fail(fmt::format("it needs about {:.1f} GB of memory, {:.1f} GB are free; "
                          "TRILOBITE_SMALL=1 runs small models instead",
                          gigabytes(needed), gigabytes(available)),
              ErrorKind::environment);
}

Result<model::Engine*> engine_for(const Path& file, const model::EngineOptions& options) {
  using Key = std::tuple<Path, unsigned, size_t, size_t>;
  static std::optional<Key> loaded;
  static std::optional<model::Engine> engine;
  const Key key{file, options.threads, options.context, options.sequences};
  if (loaded != key) {
    loaded.reset();
    engine.reset();
    auto fresh = model::Engine::load(file, options);
    if (!fresh) return fail_from(fresh);
    engine.emplace(*std::move(fresh));
    loaded = key;
  }
  return &*engine;
}

}  // namespace trilobite::benchmarks
