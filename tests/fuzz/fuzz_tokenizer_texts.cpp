// Any text given to an encoder of each kind: the ids are in the vocabulary, offsets lie within the
// text, and byte-level ids decode to the text again when it is UTF-8.

#include <fmt/format.h>

#include <array>

#include "tokenizer/loaders.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/utf8.hpp"

namespace {

using namespace trilobite;

Tokenizer expect(Result<TokenizerParts> parts) {
  TRILOBITE_CHECK(parts.has_value());
  return Tokenizer(*std::move(parts));
}

/// All bytes, then some pairs; ids are ranks.
std::string ranks() {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (unsigned byte = 0; byte < 256; ++byte)
    text += fmt::format("{}{}== {}\n", kDigits[byte >> 2], kDigits[(byte & 3) << 4], byte);
  for (const std::string_view pair :
       {"dGg=", "IGE=", "YWE=", "ICA=", "w7Y=", "aW4=", "dGhl", "YWFhYQ=="})
    text += fmt::format("{} {}\n", pair, std::count(text.begin(), text.end(), '\n'));
  return text;
}

/// tokenizer.json with a Unigram model behind every normaliser.
constexpr std::string_view kUnigram = R"({"added_tokens":[
  {"id":0,"content":"<unk>","special":true},
  {"id":7,"content":"Word","single_word":true,"lstrip":true,"rstrip":true,"normalized":true}],
 "normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"StripAccents"},
  {"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "},{"type":"Strip"}]},
 "pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},
 "decoder":{"type":"Metaspace","replacement":"_"},
 "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["_",-2],["a",-3],["_the",-4],["aa",-4.5],["the",-5],["e",-3]]}})";

const std::array<Tokenizer, 3>& tokenizers() {
  static const std::array kAll = {
      expect(tokenizer_from_tiktoken(ranks())), expect(tokenizer_from_json(kUnigram)),
      expect(tokenizer_from_wordpiece_vocabulary(
          "[UNK]\n[CLS]\n[SEP]\na\n##a\nthe\n##the\n.\n\xE4\xB8\xAD\n"))};
  return kAll;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto c = utf8::decode(text);
    if (c.is_invalid()) return false;
    text.remove_prefix(c.length);
  }
  return true;
}

void check(const Tokenizer& tokenizer, std::string_view text) {
  const auto encoding = tokenizer.encode_with_offsets(text);
  TRILOBITE_CHECK(encoding.ids == tokenizer.encode(text));
  TRILOBITE_CHECK(encoding.ids.size() == encoding.offsets.size());
  for (const TokenId id : encoding.ids)
    TRILOBITE_CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size());
  for (const auto& [begin, end] : encoding.offsets)
    TRILOBITE_CHECK(begin <= end && end <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& tokenizer : tokenizers()) check(tokenizer, text);
  const auto& bytes = tokenizers()[0];
  const auto ids = bytes.encode(text, {.parse_special = false});
  if (is_utf8(text)) TRILOBITE_CHECK(bytes.decode(ids) == text);
  return 0;
}
