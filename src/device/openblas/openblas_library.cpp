#include "device/openblas/openblas_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace trilobite {
namespace {

constexpr const char* kFileName = "libopenblas.so.0";
constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

/// Sets an environment variable unless the user has, and puts things back at the end: the library
/// reads it only while it is being loaded.
class DefaultVariable {
 public:
  DefaultVariable(const char* name, const std::string& value) : name_(name) {
    if (value.empty() || std::getenv(name) != nullptr) return;
    setenv(name, value.c_str(), 0);
    ours_ = true;
  }
  ~DefaultVariable() {
    if (ours_) unsetenv(name_);
  }
  DefaultVariable(const DefaultVariable&) = delete;
  DefaultVariable& operator=(const DefaultVariable&) = delete;

 private:
  const char* name_;
  bool ours_ = false;
};

std::optional<SharedLibrary> load(const std::string& core, unsigned threads) {
  const DefaultVariable core_type(kCoreVariable, core);
  // Idle threads spin 2^n cycles before they sleep. The default 2^26 (about 20 ms) would slow down
  // whatever is measured next; 2^16 still covers the gaps between the calls of one benchmark.
  const DefaultVariable timeout("OPENBLAS_THREAD_TIMEOUT", "16");
  const DefaultVariable thread_count("OPENBLAS_NUM_THREADS", std::to_string(threads));
  return SharedLibrary::open(kFileName, SharedLibrary::AfterUse::unload);
}

template <typename Function>
void find(const SharedLibrary& library, const char* name, Function*& function) {
  function = library.function<Function>(name);
}

std::optional<OpenblasFunctions> functions_of(const SharedLibrary& library) {
  OpenblasFunctions f{};
  find(library, "openblas_get_corename", f.get_corename);
  find(library, "openblas_get_config", f.get_config);
  find(library, "openblas_get_num_threads", f.get_num_threads);
  find(library, "openblas_set_num_threads", f.set_num_threads);
  find(library, "cblas_sgemm", f.sgemm);
  find(library, "cblas_sgemv", f.sgemv);
  find(library, "cblas_saxpy", f.saxpy);
  find(library, "cblas_scopy", f.scopy);
  find(library, "cblas_somatcopy", f.somatcopy);
  find(library, "cblas_ssum", f.ssum);
  find(library, "cblas_sbgemm", f.sbgemm);
  const bool complete = f.get_corename && f.get_config && f.get_num_threads && f.set_num_threads &&
                        f.sgemm && f.sgemv && f.saxpy && f.scopy && f.somatcopy;
  return complete ? std::optional(f) : std::nullopt;
}

Result<OpenblasLibrary> with_functions(SharedLibrary library, std::string wanted_core) {
  const auto functions = functions_of(library);
  if (!functions) {
    return fail("libopenblas.so.0 lacks functions of the CBLAS interface; install libopenblas0",
                ErrorKind::environment);
  }
  const bool wrong = functions->ssum != nullptr && !sums_correctly(functions->ssum);
  return OpenblasLibrary{std::move(library), *functions, std::move(wanted_core), wrong};
}

}  // namespace

bool sums_correctly(float (*ssum)(int n, const float* x, int incx)) {
  // Some vectors of 16 and a rest. Squares, because quarters that lie on a line hide the mistake
  // above: twice the third is the second plus the fourth. Every partial sum is exact in f32.
  std::array<float, 64 + 16 + 5> squares;
  float expected = 0;
  for (size_t i = 0; i < squares.size(); ++i) {
    squares[i] = static_cast<float>(i * i);
    expected += squares[i];
  }
  return ssum(static_cast<int>(squares.size()), squares.data(), 1) == expected;
}

std::vector<std::string> openblas_cores(IsaLevel level, const CpuInfo& cpu) {
  if (cpu.architecture != "x86_64") return {};
  const bool narrowed = level < levels_of(cpu).back();
  switch (level) {
    case IsaLevel::avx3_dl:
    case IsaLevel::avx3:
      if (!narrowed && cpu.has("amx_bf16")) return {"SapphireRapids", "Cooperlake", "SkylakeX"};
      if (!narrowed && cpu.has("avx512_bf16")) return {"Cooperlake", "SkylakeX"};
      return {"SkylakeX"};
    case IsaLevel::avx2:
      return cpu.vendor == "AuthenticAMD" ? std::vector<std::string>{"Zen", "Haswell"}
                                          : std::vector<std::string>{"Haswell"};
    case IsaLevel::sse4: return {"Nehalem"};
    // An old machine is left to the library; on a newer one this asks for the oldest kernels.
    case IsaLevel::baseline:
      return narrowed ? std::vector<std::string>{"Prescott"} : std::vector<std::string>{};
  }
  std::unreachable();
}

std::string why_no_openblas() {
  if (load("", 1)) return "";
  return "libopenblas.so.0 is not installed; apt install libopenblas0";
}

Result<OpenblasLibrary> load_openblas(IsaLevel level, unsigned threads) {
  auto cores = openblas_cores(level, read_cpu_info());
  if (const char* chosen = std::getenv(kCoreVariable)) cores = {chosen};
  const std::string wanted = cores.empty() ? "" : cores.front();
  if (auto loaded = SharedLibrary::find_loaded(kFileName)) {
    auto library = with_functions(*std::move(loaded), wanted);
    if (!library) return library;
    const std::string core = library->functions.get_corename();
    const bool fits = cores.empty() || std::ranges::find(cores, core) != cores.end();
    if (fits) return library;
    return fail(fmt::format("OpenBLAS is in use with its {} kernels, and the choice is fixed while "
                            "it is loaded; close that device, or use another process for {}",
                            core, wanted),
                ErrorKind::environment);
  }
  // A build that does not know a core type takes another one without a word: then ask for the next.
  for (size_t i = 0; i < cores.size(); ++i) {
    auto handle = load(cores[i], threads);
    if (!handle) return fail(why_no_openblas(), ErrorKind::environment);
    auto library = with_functions(*std::move(handle), cores[i]);
    const bool last = i + 1 == cores.size();
    if (!library || last || library->functions.get_corename() == cores[i]) return library;
  }
  auto handle = load("", threads);
  if (!handle) return fail(why_no_openblas(), ErrorKind::environment);
  return with_functions(*std::move(handle), "");
}

}  // namespace trilobite
