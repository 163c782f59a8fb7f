// Which loader a file is for, decided by what is in it.

#include <fmt/format.h>

#include <array>

#include "base/mapped_file.hpp"
#include "tokenizer/base64.hpp"
#include "tokenizer/loaders.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

bool looks_like_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// "IQ== 0"
bool looks_like_tiktoken(std::string_view text) {
  const auto line = first_line(text);
  const size_t blank = line.find(' ');
  if (blank == 0 || blank == std::string_view::npos || blank + 1 == line.size()) return false;
  const auto rank = line.substr(blank + 1);
  return rank.find_first_not_of("0123456789\r") == std::string_view::npos &&
         decode_base64(line.substr(0, blank)).has_value();
}

/// The first field is a piece, which begins with its text.
bool looks_like_sentencepiece(std::string_view text) {
  return text.size() > 3 && text[0] == '\x0A' && text[2] == '\x0A';
}

/// The length of the longest piece, a score, and the length of the first piece.
bool looks_like_llama2c(std::string_view text) {
  const auto length = [&](size_t at) {
    return static_cast<uint8_t>(text[at]) |
           static_cast<unsigned>(static_cast<uint8_t>(text[at + 1])) << 8;
  };
  return text.size() > 12 && text[2] == 0 && text[3] == 0 && length(0) > 0 &&
         length(8) <= length(0) && text[10] == 0 && text[11] == 0;
}

bool has_text_only(std::string_view text) {
  return text.substr(0, 4096).find('\0') == std::string_view::npos;
}

Result<TokenizerParts> load_gpt2_files(const Path& path, std::string_view vocabulary) {
  for (const char* name : {"merges.txt", "vocab.bpe"}) {
    const auto merges_path = path.parent_path() / name;
    if (!std::filesystem::exists(merges_path)) continue;
    const auto merges = MappedFile::open(merges_path);
    if (!merges) return fail_from(merges);
    return tokenizer_from_gpt2_files(vocabulary, text_of(*merges));
  }
  return fail("it is a vocabulary without its merges; merges.txt or vocab.bpe must be beside it");
}

Result<TokenizerParts> load_file(const Path& path, const MappedFile& file) {
  const auto text = text_of(file);
  if (gguf::looks_like_gguf(file.bytes())) {
    const auto contents = gguf::Gguf::parse(file.bytes());
    return contents ? tokenizer_from_gguf(*contents) : fail_from(contents);
  }
  if (looks_like_json(text)) {
    const bool is_whole = text.find("\"model\"") != std::string_view::npos &&
                          text.find("\"vocab\"") != std::string_view::npos;
    return is_whole ? tokenizer_from_json(text) : load_gpt2_files(path, text);
  }
  if (looks_like_sentencepiece(text)) return tokenizer_from_sentencepiece(text);
  if (looks_like_tiktoken(text)) return tokenizer_from_tiktoken(text);
  if (looks_like_llama2c(text)) return tokenizer_from_llama2c(text);
  if (has_text_only(text) && text.find("[UNK]") != std::string_view::npos)
    return tokenizer_from_wordpiece_vocabulary(text);
  return fail(
      "its content is none of GGUF, tokenizer.json, a SentencePiece model, vocab.json, tiktoken "
      "ranks, BERT's vocab.txt or llama2.c's tokenizer.bin");
}

/// In the order of how much they say.
Result<Path> find_in_folder(const Path& folder) {
  constexpr std::array kNames = {"tokenizer.json", "tokenizer.model", "vocab.json",
                                 "encoder.json",   "vocab.txt",       "tokenizer.bin"};
  for (const char* name : kNames) {
    if (std::filesystem::exists(folder / name)) return folder / name;
  }
  return fail(fmt::format("{} is a folder without a tokenizer ({})", folder.string(),
                          fmt::join(kNames, ", ")));
}

Result<Tokenizer> finish(Result<TokenizerParts> parts, const std::string& doing) {
  if (!parts) return fail_from(parts, doing);
  if ((*parts)->vocabulary.size() == 0) return fail(doing + ": the vocabulary is empty");
  return Tokenizer(*std::move(parts));
}

}  // namespace

Result<Tokenizer> load_tokenizer(const gguf::Gguf& file) {
  return finish(tokenizer_from_gguf(file), "reading the tokenizer");
}

Result<Tokenizer> Tokenizer::load(const std::filesystem::path& path) {
  auto place = std::filesystem::is_directory(path) ? find_in_folder(path) : Result<Path>(path);
  if (!place) return fail_from(place);
  const auto file = MappedFile::open(*place);
  if (!file) return fail_from(file, "loading a tokenizer");
  return finish(load_file(*place, *file), "loading a tokenizer from " + place->string());
}

}  // namespace trilobite
