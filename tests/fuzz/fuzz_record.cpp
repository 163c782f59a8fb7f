// Any bytes given to the record reader end in a record that writes and reads back, or in an error.

#include "base/error.hpp"
#include "record/record_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto record = trilobite::record_from_json_text({reinterpret_cast<const char*>(data), size});
  if (record)
    TRILOBITE_CHECK(trilobite::record_from_json_text(trilobite::to_json_text(*record)).has_value());
  return 0;
}
