#include "base/shared_library.hpp"

#include <dlfcn.h>

#include <utility>

namespace trilobite {
namespace {

void* load(const std::string& file_name, int extra_flags) {
  return dlopen(file_name.c_str(), RTLD_NOW | RTLD_LOCAL | extra_flags);
}

}  // namespace

std::optional<SharedLibrary> SharedLibrary::open(const std::string& file_name, AfterUse after_use) {
  void* handle = load(file_name, after_use == AfterUse::keep ? RTLD_NODELETE : 0);
  if (handle == nullptr) return std::nullopt;
  return SharedLibrary(handle);
}

std::optional<SharedLibrary> SharedLibrary::find_loaded(const std::string& file_name) {
  void* handle = load(file_name, RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  return SharedLibrary(handle);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace trilobite
