// Any text given to the small parsers ends in a value or an error; durations that parse print and
// parse again.

#include "base/duration.hpp"
#include "base/parse_number.hpp"
#include "measure/noise.hpp"
#include "tensor/shape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = trilobite::parse_duration(text)) {
    TRILOBITE_CHECK(trilobite::parse_duration(trilobite::to_string(*duration)).value() ==
                    *duration);
  }
  if (const auto shape = trilobite::Shape::parse(text)) {
    TRILOBITE_CHECK(trilobite::Shape::parse(shape->to_string()).value() == *shape);
  }
  (void)trilobite::parse_int(text);
  (void)trilobite::parse_double(text);
  (void)trilobite::parse_cpu_times(text);
  return 0;
}
