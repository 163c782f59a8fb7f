#pragma once
// SharedLibrary: a library that is looked for at run time, so that the program also runs where it
// is not installed.

#include <optional>
#include <string>

namespace trilobite {

/// Move-only; the library stays usable as long as this lives.
class SharedLibrary {
 public:
  enum class AfterUse {
    unload,
    keep,  // drivers start threads and exit handlers that do not survive being unloaded
  };
  /// Nothing when the library is not installed or cannot be loaded.
  static std::optional<SharedLibrary> open(const std::string& file_name, AfterUse after_use);
  /// The library if this process has it already, else nothing.
  static std::optional<SharedLibrary> find_loaded(const std::string& file_name);

  ~SharedLibrary();
  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// nullptr when the library has no such function. Function must be its true type.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

  /// The same without a type.
  void* symbol(const char* name) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace trilobite
