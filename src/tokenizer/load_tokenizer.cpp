// Which loader a file is for, decided by what is in it.

#include <fmt/format.h>

#include "base/mapped_file.hpp"
#include "tokenizer/loaders.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

Result<Tokenizer> load_tokenizer(const gguf::Gguf& file) {
  auto parts = tokenizer_from_gguf(file);
  if (!parts) return fail_from(parts, "reading the tokenizer");
  return Tokenizer(*std::move(parts));
}

Result<Tokenizer> Tokenizer::load(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return fail_from(file, "loading a tokenizer");
  const auto bytes = text_of(*file);
  (void)bytes;
  auto contents = gguf::Gguf::parse(file->bytes());
  if (!contents) return fail_from(contents, "loading a tokenizer from " + path.string());
  auto parts = tokenizer_from_gguf(*contents);
  if (!parts) return fail_from(parts, "loading a tokenizer from " + path.string());
  return Tokenizer(*std::move(parts));
}

}  // namespace trilobite
