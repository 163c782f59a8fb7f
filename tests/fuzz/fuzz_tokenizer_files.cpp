// Any bytes given to any loader of tokenizers end in a tokenizer that encodes and decodes, or in an
// error. The first byte chooses the loader.

#include "tokenizer/loaders.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

using namespace trilobite;

Result<TokenizerParts> load(unsigned choice, std::string_view bytes) {
  switch (choice % 7) {
    case 0: {
      const auto file = gguf::Gguf::parse(std::as_bytes(std::span(bytes)));
      return file ? tokenizer_from_gguf(*file) : fail_from(file);
    }
    case 1: return tokenizer_from_json(bytes);
    case 2: return tokenizer_from_sentencepiece(bytes);
    case 3: return tokenizer_from_tiktoken(bytes);
    case 4: return tokenizer_from_wordpiece_vocabulary(bytes);
    case 5: return tokenizer_from_llama2c(bytes);
    default: {
      const size_t cut = std::min(bytes.find('\n'), bytes.size());
      return tokenizer_from_gpt2_files(bytes.substr(0, cut), bytes.substr(cut));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  auto parts = load(data[0], bytes);
  if (!parts) return 0;
  const Tokenizer tokenizer(*std::move(parts));
  for (const std::string_view text : {std::string_view("Hello, the w\xC3\xB6rld\n 123"), bytes}) {
    const auto ids = tokenizer.encode(text);
    TRILOBITE_CHECK(tokenizer.encode_with_offsets(text).ids == ids);
    (void)tokenizer.decode(ids, {.special_tokens = true});
  }
  return 0;
}
