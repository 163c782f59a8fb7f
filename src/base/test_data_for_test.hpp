#pragma once
// Where tests find real data that is not part of the project. A test that needs it skips, with a
// message, where it is absent.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/file.hpp"

namespace trilobite {

/// The folder that TRILOBITE_TEST_DATA names, else the one beside the checkout.
inline Path test_data_folder() {
  const char* named = std::getenv("TRILOBITE_TEST_DATA");
  return named != nullptr ? named : TRILOBITE_TEST_DATA_FOLDER;
}

/// Whole file as little-endian f32.
inline std::vector<float> read_floats(const Path& path) {
  const auto text = read_file(path).value();
  std::vector<float> values(text.size() / sizeof(float));
  std::memcpy(values.data(), text.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace trilobite

/// Leaves the test unless `path` (relative to the data folder) is there.
#define TRILOBITE_NEED_TEST_DATA(path)                                         \
  if (!std::filesystem::exists(::trilobite::test_data_folder() / (path)))      \
  GTEST_SKIP() << "no " << (path) << " in " << ::trilobite::test_data_folder() \
               << "; TRILOBITE_TEST_DATA names the folder that holds real data"
