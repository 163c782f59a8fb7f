#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/parse_number.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "tokenizer/tokenizer.hpp"

namespace trilobite::cli {
namespace {

struct Flags {
  std::string model;
  std::string text;
  std::string format = "ids";
  bool decode = false;
  bool no_special = false;
  bool offsets = false;
};

Result<std::string> read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const auto count = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count == 0) return text;
    if (count < 0) return fail("standard input cannot be read");
    text.append(buffer, static_cast<size_t>(count));
  }
}

/// Bytes that are no text are shown as they are written in C: "\xE2".
std::string printable(std::string_view piece) {
  std::string text;
  for (const char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\') {
      text += "\\\\";
    } else if (byte < 0x20 || byte == 0x7F) {
      text += fmt::format("\\x{:02X}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

/// Ids, separated by blanks, commas, line breaks or brackets.
Result<std::vector<TokenId>> parse_ids(std::string_view text) {
  constexpr std::string_view kSeparators = " ,\t\r\n[]";
  std::vector<TokenId> ids;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) return ids;
    const auto word = text.substr(0, text.find_first_of(kSeparators));
    const auto id = parse_int(word);
    if (!id || *id < 0 || *id > INT32_MAX) return fail(fmt::format("'{}' is not a token id", word));
    ids.push_back(static_cast<TokenId>(*id));
    text.remove_prefix(word.size());
  }
}

Json to_json(const Tokenizer& tokenizer, const Encoding& encoding, bool with_offsets) {
  Json json;
  json["kind"] = tokenizer.kind();
  json["vocabulary"] = tokenizer.vocabulary_size();
  json["count"] = encoding.ids.size();
  json["ids"] = encoding.ids;
  json["pieces"] = Json::array();
  for (const TokenId id : encoding.ids) json["pieces"].push_back(tokenizer.piece(id));
  if (!with_offsets) return json;
  json["offsets"] = Json::array();
  for (const auto& [begin, end] : encoding.offsets) json["offsets"].push_back({begin, end});
  return json;
}

std::string show(const Tokenizer& tokenizer, const Encoding& encoding, const Flags& flags) {
  if (flags.format == "json") {
    return json_line(to_json(tokenizer, encoding, flags.offsets)) + "\n";
  }
  const bool pieces = flags.format == "pieces";
  const bool by_line = pieces || flags.offsets;
  std::string text;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const TokenId id = encoding.ids[i];
    if (!text.empty() && !by_line) text += ' ';
    text += fmt::format("{}", id);
    if (flags.offsets)
      text += fmt::format("\t{}-{}", encoding.offsets[i].begin, encoding.offsets[i].end);
    if (pieces) text += "\t" + printable(tokenizer.piece(id));
    if (by_line) text += '\n';
  }
  return by_line ? text : text + "\n";
}

Result<std::string> run(const Tokenizer& tokenizer, const Flags& flags, const std::string& input) {
  const EncodeOptions options{.add_special = !flags.no_special, .parse_special = !flags.no_special};
  if (flags.decode) {
    const auto ids = parse_ids(input);
    if (!ids) return fail_from(ids);
    const auto size = static_cast<TokenId>(tokenizer.vocabulary_size());
    for (const TokenId id : *ids) {
      if (id >= size)
        return fail(fmt::format("token {} is outside the vocabulary of {}", id, size));
    }
    return tokenizer.decode(*ids, {.special_tokens = !flags.no_special});
  }
  if (flags.offsets) return show(tokenizer, tokenizer.encode_with_offsets(input, options), flags);
  return show(tokenizer, {.ids = tokenizer.encode(input, options)}, flags);
}

}  // namespace

int run_tokenize(const Arguments& arguments) {
  CLI::App app("Turns text into token ids, or ids into text", "tokenize");
  Flags flags;
  auto* model = app.add_option("--model", flags.model,
                               "GGUF, tokenizer.json, SentencePiece .model, vocab.json with its "
                               "merges, tiktoken ranks, vocab.txt, tokenizer.bin, or their folder");
  app.add_option("--vocab", flags.model, "the same")->excludes(model);
  app.add_flag("--decode", flags.decode, "the input is ids, the output text");
  app.add_flag("--no-special", flags.no_special,
               "add no special tokens and treat their names as text; leave them out when decoding");
  app.add_flag("--offsets", flags.offsets, "with the bytes of the input that each token covers");
  app.add_option("--format", flags.format)
      ->check(CLI::IsMember({"ids", "pieces", "json"}))
      ->capture_default_str();
  app.add_option("TEXT", flags.text, "the text or ids; -: standard input")->required();
  if (const auto over = parse(app, arguments)) return *over;
  if (flags.model.empty())
    return report_error(Error("tokenize needs --model FILE or --vocab FILE"));
  const auto input = flags.text == "-" ? read_standard_input() : Result<std::string>(flags.text);
  if (!input) return report_error(input.error());
  const auto tokenizer = load_tokenizer(flags.model);
  if (!tokenizer) return report_error(tokenizer.error());
  const auto text = run(*tokenizer, flags, *input);
  if (!text) return report_error(text.error());
  const auto printed = print(*text);
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
