#pragma once
// oneDNN's product of unsigned and signed bytes with weights in the library's own packed layout:
// the yardstick for our integer products.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"

namespace trilobite {

struct Int8ProductSize {
  size_t tokens;
  size_t rows;  // outputs
  size_t columns;
};

/// out[token][row] = sum over columns of x[token][column] * weights[row][column], as int32.
class OnednnInt8Product {
 public:
  /// Packs `weights` [rows, columns] once. Fails with ErrorKind::environment where this build or
  /// machine has no such product.
  static Result<OnednnInt8Product> create(const Int8ProductSize& size,
                                          std::span<const int8_t> weights, unsigned threads);
  ~OnednnInt8Product();
  OnednnInt8Product(OnednnInt8Product&&) noexcept;
  OnednnInt8Product& operator=(OnednnInt8Product&&) noexcept;

  /// x: [tokens, columns], out: [tokens, rows].
  void run(const uint8_t* x, int32_t* out);
  /// As the library names its implementation.
  std::string kernel() const;

 private:
  struct State;
  explicit OnednnInt8Product(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trilobite
