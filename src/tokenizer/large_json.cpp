#include "tokenizer/large_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tokenizer/byte_alphabet.hpp"

namespace trilobite {

Result<LargeJson> parse_large_json(std::string_view text) {
  try {
    return LargeJson::parse(text);
  } catch (const LargeJson::exception& problem) {
    const std::string_view what = problem.what();
    const size_t end = what.find("] ");  // "[json.exception.parse_error.101] parse error at ..."
    return fail(std::string(end == std::string_view::npos ? what : what.substr(end + 2)));
  }
}

Result<void> read_vocabulary_object(const LargeJson& object, bool byte_level,
                                    Vocabulary& vocabulary) {
  if (!object.is_object()) return fail("the vocabulary is not an object of pieces and ids");
  std::vector<std::pair<TokenId, std::string_view>> entries;
  for (const auto& [piece, id] : object.items()) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMostTokens)
      return fail(fmt::format("the id of the piece '{}' is not a number below 2^24", piece));
    entries.emplace_back(id.get<TokenId>(), piece);
  }
  std::ranges::sort(entries);
  std::string bytes;
  for (const auto& [id, piece] : entries) {
    bytes.clear();
    if (byte_level) {
      append_bytes_of(piece, bytes);
    } else {
      bytes = piece;
    }
    vocabulary.set(id, bytes, TokenKind::normal);
  }
  vocabulary.build_index();
  return {};
}

}  // namespace trilobite
