#pragma once
// Which of its three layouts an I2_S tensor has: the file does not say. Code frequencies cannot
// tell, a permutation leaves them as they are. What can is structure: rows that differ in how many
// zeros they hold, and columns of which neighbours resemble each other. Weights without such
// structure look alike in all layouts, and then the answer is that nobody can tell.

#include <string>
#include <vector>

#include "quant/i2s.hpp"

namespace trilobite::quant {

struct I2sLayoutGuess {
  I2sLayout layout =
      I2sLayout::x86_block128;  // the one to use; x86-128 unless something speaks against
  /// 1: no other layout fits the shape. 0: cannot tell. Between: 1 - 1 / (1 + t^2) (Cantelli's
  /// inequality) of the weakest t-statistic that was needed; never below 0.96.
  double confidence = 0;
  std::vector<I2sLayout> possible;  // what neither shape nor structure excludes; holds `layout`
  std::string reason;               // one sentence
};

/// An error when the bytes are no I2_S tensor of this shape in any layout: a wrong size, a code 3,
/// a scale that no weights have.
Result<I2sLayoutGuess> guess_i2s_layout(const QuantizedView& packed);

}  // namespace trilobite::quant
