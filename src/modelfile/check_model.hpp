#pragma once
// Is a model file whole: does it hold what its architecture needs, in shapes that fit, without
// overlaps, with numbers that are numbers?

#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gguf/gguf_file.hpp"

namespace trilobite::modelfile {

struct Finding {
  bool problem;  // else it is only worth knowing
  std::string text;
};

/// `deep` reads every weight and looks at every I2_S tensor instead of the first.
std::vector<Finding> check_model(const gguf::Gguf& gguf, bool deep, ThreadPool& pool);

}  // namespace trilobite::modelfile
