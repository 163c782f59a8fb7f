// Any bytes given to the reader of model files end in a model or in an error, and whatever can be
// read can also be checked, down to every weight.

#include "gguf/gguf_file.hpp"
#include "modelfile/check_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trilobite;
  const auto gguf = gguf::Gguf::parse(std::as_bytes(std::span(data, size)));
  if (!gguf) {
    TRILOBITE_CHECK(!gguf.error().message().empty());
    return 0;
  }
  ThreadPool pool(1);
  for (const auto& finding : modelfile::check_model(*gguf, true, pool))
    TRILOBITE_CHECK(!finding.text.empty());
  return 0;
}
