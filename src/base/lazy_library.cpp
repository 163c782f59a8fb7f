#include "base/lazy_library.hpp"

#include <fmt/format.h>

namespace trilobite {

Result<void> LazyLibrary::load() const {
  std::call_once(
      once_, [this] { library_ = SharedLibrary::open(file_name_, SharedLibrary::AfterUse::keep); });
  if (library_) return {};
  return fail(fmt::format("{} is not installed, or something that it needs is not", file_name_),
              ErrorKind::environment);
}

void* LazyLibrary::symbol(const char* name) const {
  TRILOBITE_CHECK(library_.has_value());
  void* symbol = library_->symbol(name);
  TRILOBITE_CHECK(symbol != nullptr);
  return symbol;
}

}  // namespace trilobite
