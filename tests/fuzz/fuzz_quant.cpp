// Any bytes given to any unpacker end in weights or in an error, and weights that a scheme says it
// can hold are packed again without one. The first bytes choose scheme and shape, the rest is the
// matrix.

#include <cmath>
#include <cstring>

#include "quant/i2s_layout_guess.hpp"
#include "quant/mixed_precision.hpp"
#include "quant/scheme.hpp"

namespace {

using namespace trilobite;
using namespace trilobite::quant;

/// Takes the input apart from the front; returns less than asked for when it ends.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(data, size) {}

  std::span<const uint8_t> take(size_t count) {
    const auto taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  size_t number(size_t bytes) {
    size_t value = 0;
    for (const uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  std::vector<float> floats(size_t count) {
    const auto bytes = take(count * sizeof(float));
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }

 private:
  std::span<const uint8_t> left_;
};

void pack_again(const Scheme& scheme, const std::vector<float>& values, size_t rows, size_t cols) {
  const auto packed = quantize(scheme, MatrixView::from(values, rows, cols).value());
  bool fits = true;
  for (const float value : values) fits = fits && std::abs(value) <= scheme.largest_magnitude;
  TRILOBITE_CHECK(packed.has_value() == fits);
  if (packed) TRILOBITE_CHECK(dequantize(*packed).has_value());
}

void unpack(const Scheme& scheme, size_t rows, size_t cols, Input input) {
  const auto size = stored_size(scheme, rows, cols).value_or(StoredSize{64, 1, 1});
  const auto bytes = input.take(size.bytes);
  const auto scales = input.floats(size.scales);
  const auto zero_points = input.take(size.zero_points);
  const QuantizedView view{rows, cols, bytes, scales, zero_points};
  if (const auto values = dequantize(scheme, view)) pack_again(scheme, *values, rows, cols);
  (void)guess_i2s_layout(view);
}

/// The rest of the input as weights.
void pack(const Scheme& scheme, size_t rows, size_t cols, Input input) {
  const auto elements = count_elements(rows, cols);
  if (!elements || !stored_size(scheme, rows, cols)) return;
  auto values = input.floats(*elements);
  values.resize(*elements);
  pack_again(scheme, values, rows, cols);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const size_t choice = input.number(1);
  const size_t rows = input.number(1) % 17;  // more would only be slower
  const size_t cols = input.number(2) % 1025;
  const Scheme& scheme = all_schemes()[choice % all_schemes().size()];
  unpack(scheme, rows, cols, input);
  pack(scheme, rows, cols, input);
  if (const auto json = parse_json({reinterpret_cast<const char*>(data), size})) {
    (void)precision_plan_from_json(*json);
  }
  return 0;
}
