#pragma once
// A library that is loaded when it is needed. A process pays for every library it is linked with
// when it starts and whenever it forks, and measuring programs fork for every placement of their
// memory: an empty program with the libraries for pictures, PostgreSQL and the network forked in
// 1.8 ms, without them in 0.5 ms.
//
// Functions are declared once, under their own names, in the namespace that uses them:
//   inline constinit const LazyLibrary libpq("libpq.so.5");
//   TRILOBITE_LAZY_FUNCTION(libpq, PQfinish);
// and are called as if the library were linked, after libpq.load() has said that it is there.

#include <atomic>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "base/shared_library.hpp"

namespace trilobite {

/// Stays loaded until the process ends. May be used by several threads.
class LazyLibrary {
 public:
  constexpr explicit LazyLibrary(const char* file_name) : file_name_(file_name) {}
  /// Fails (environment) when it is not installed or cannot be loaded.
  Result<void> load() const;
  /// Of a library that has been loaded and has this symbol; anything else is a mistake of ours.
  void* symbol(const char* name) const;

 private:
  const char* file_name_;
  mutable std::once_flag once_;
  mutable std::optional<SharedLibrary> library_;
};

template <typename Function>
class LazyFunction {
 public:
  constexpr LazyFunction(const LazyLibrary& library, const char* name)
      : library_(library), name_(name) {}
  /// Implicit, so that it is called like the function itself, also with a variable number of
  /// arguments.
  operator Function*() const {
    auto* function = known_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(library_.symbol(name_));
      known_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const LazyLibrary& library_;
  const char* name_;
  mutable std::atomic<Function*> known_ = nullptr;
};

}  // namespace trilobite

#define TRILOBITE_LAZY_FUNCTION(library, name) \
  inline constinit const LazyFunction<decltype(::name)> name { library, #name }
