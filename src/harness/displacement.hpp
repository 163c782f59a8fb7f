#pragma once
// A forked process lies at the addresses of its parent, and gets the pages that the one before it
// returned. Either is worth some per cent of a kernel's time (docs/adr/0009 and 0010), so processes
// that measure move away from there first. All of it is given back with the process.

#include <functional>

namespace trilobite {

/// Calls `work` with the heap, the mappings and the stack moved by a random part of what could
/// matter to a cache.
void at_random_addresses(const std::function<void()>& work);

/// Keeps up to a megabyte of pages: what comes after gets others than the process before had.
void take_random_pages();

}  // namespace trilobite
