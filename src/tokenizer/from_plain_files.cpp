// Vocabularies in the plain files of the projects they come from: GPT-2's JSON and merges,
// tiktoken's ranks, BERT's list, llama2.c's table.

#include <fmt/format.h>

#include <cstring>

#include "base/parse_number.hpp"
#include "tokenizer/base64.hpp"
#include "tokenizer/building.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/large_json.hpp"
#include "tokenizer/loaders.hpp"

namespace trilobite {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

/// Calls each(line, number) for every line, without its end; stops at the first error.
template <typename Each>
Result<void> for_each_line(std::string_view text, Each&& each) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto done = each(line, number); !done) return done;
  }
  return {};
}

void set_end_of_text(Tokenizer::Parts& parts, TokenId id) {
  parts.special.bos = parts.special.eos = id;
}

}  // namespace

Result<TokenizerParts> tokenizer_from_gpt2_files(std::string_view vocabulary,
                                                 std::string_view merges) {
  const auto json = parse_large_json(vocabulary);
  if (!json) return fail_from(json);
  auto parts = std::make_unique<Tokenizer::Parts>();
  if (auto read = read_vocabulary_object(*json, true, parts->vocabulary); !read)
    return fail_from(read);
  if (const auto end = parts->vocabulary.find_any(kEndOfText)) {
    parts->vocabulary.set_kind(*end, TokenKind::control);
    set_end_of_text(*parts, *end);
  }
  parts->vocabulary.build_index();
  MergeListBuilder builder(parts->vocabulary, merges.size() / 8, true);
  (void)for_each_line(merges, [&](std::string_view line, size_t) -> Result<void> {
    if (!line.empty() && !line.starts_with("#version")) builder.add_line(line);
    return {};
  });
  auto table = builder.finish();
  if (!table) return fail_from(table);
  parts->splits.emplace_back(Gpt2Words());
  set_byte_level_model(*parts, *std::move(table), false);
  add_control_tokens(*parts, false);
  find_end_of_generation(*parts);
  return parts;
}

namespace {

constexpr TokenId kGpt2Ranks = 50256;
constexpr TokenId kLlama3Ranks = 128000;

/// The special tokens that LLaMA-3's own code adds behind the ranks; the others are reserved.
std::string llama3_special(TokenId index) {
  constexpr std::string_view kNamed[] = {"<|begin_of_text|>",
                                         "<|end_of_text|>",
                                         "<|reserved_special_token_0|>",
                                         "<|reserved_special_token_1|>",
                                         "<|finetune_right_pad_id|>",
                                         "<|reserved_special_token_2|>",
                                         "<|start_header_id|>",
                                         "<|end_header_id|>",
                                         "<|eom_id|>",
                                         "<|eot_id|>",
                                         "<|python_tag|>"};
  if (index < static_cast<TokenId>(std::size(kNamed)))
    return std::string(kNamed[static_cast<size_t>(index)]);
  return fmt::format("<|reserved_special_token_{}|>", index - 8);
}

void add_special_of_ranks(Tokenizer::Parts& parts) {
  auto& vocabulary = parts.vocabulary;
  const auto ranks = static_cast<TokenId>(vocabulary.size());
  if (ranks == kGpt2Ranks) set_end_of_text(parts, vocabulary.add(kEndOfText, TokenKind::control));
  if (ranks != kLlama3Ranks) return;
  for (TokenId i = 0; i < 256; ++i) vocabulary.add(llama3_special(i), TokenKind::control);
  parts.special = {.bos = ranks, .eos = ranks + 1, .pad = ranks + 4, .eot = ranks + 9};
  parts.prefix = {ranks};
}

Result<void> add_rank(std::string_view line, size_t number, Vocabulary& vocabulary) {
  if (line.empty()) return {};
  const size_t blank = line.find(' ');
  const auto bytes = decode_base64(line.substr(0, blank));
  const auto rank =
      blank == std::string_view::npos ? fail("no rank") : parse_int(line.substr(blank + 1));
  if (!bytes || bytes->empty() || !rank || *rank < 0 || *rank >= kMostTokens)
    return fail(fmt::format("line {} is not a base64 token and its rank", number));
  vocabulary.set(static_cast<TokenId>(*rank), *bytes, TokenKind::normal);
  return {};
}

}  // namespace

Result<TokenizerParts> tokenizer_from_tiktoken(std::string_view text) {
  auto parts = std::make_unique<Tokenizer::Parts>();
  auto read = for_each_line(text, [&](std::string_view line, size_t number) {
    return add_rank(line, number, parts->vocabulary);
  });
  if (!read) return fail_from(read);
  const bool is_gpt2 = parts->vocabulary.size() == static_cast<size_t>(kGpt2Ranks);
  add_special_of_ranks(*parts);
  parts->vocabulary.build_index();
  if (is_gpt2) {
    parts->splits.emplace_back(Gpt2Words());
  } else {
    parts->splits.emplace_back(Llama3Words());
  }
  auto symbols = SymbolTable::of_bytes(parts->vocabulary);
  set_byte_level_model(*parts, merges_by_id(parts->vocabulary, symbols), true);
  add_control_tokens(*parts, false);
  find_end_of_generation(*parts);
  return parts;
}

Result<TokenizerParts> tokenizer_from_wordpiece_vocabulary(std::string_view text) {
  auto parts = std::make_unique<Tokenizer::Parts>();
  auto& vocabulary = parts->vocabulary;
  bool has_capitals = false;
  auto read = for_each_line(text, [&](std::string_view line, size_t) -> Result<void> {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    const bool is_special = line.starts_with('[') && line.ends_with(']') && line.size() > 2;
    has_capitals =
        has_capitals ||
        (!is_special && line.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos);
    vocabulary.add(line, TokenKind::normal);
    return {};
  });
  if (!read) return fail_from(read);
  const auto special = [&](std::string_view name) -> std::optional<TokenId> {
    const auto id = vocabulary.find_any(name);
    if (id) vocabulary.set_kind(*id, TokenKind::control);
    return id;
  };
  vocabulary.build_index();
  parts->special = {.bos = special("[CLS]"),
                    .eos = special("[SEP]"),
                    .unk = special("[UNK]"),
                    .pad = special("[PAD]"),
                    .mask = special("[MASK]")};
  if (!parts->special.unk) return fail("the vocabulary has no [UNK]");
  vocabulary.build_index();
  if (parts->special.bos) parts->prefix = {*parts->special.bos};
  if (parts->special.eos) parts->suffix = {*parts->special.eos};
  parts->normalizer.emplace_back(
      BertClean{.strip_accents = !has_capitals, .lowercase = !has_capitals});
  parts->splits.emplace_back(BertWords());
  set_wordpiece_model(*parts, {});
  parts->decoder = {.joining = DecoderRules::Joining::wordpiece, .cleanup = true};
  add_control_tokens(*parts, false);
  return parts;
}

namespace {

/// Takes numbers and texts from the front; reading beyond the end makes it unsound.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : left_(bytes) {}
  std::string_view take(size_t count) {
    is_sound_ = is_sound_ && count <= left_.size();
    const auto taken = left_.substr(0, is_sound_ ? count : 0);
    left_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T number() {
    T value{};
    const auto bytes = take(sizeof(T));
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  bool is_sound() const { return is_sound_; }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool is_sound_ = true;
};

/// The format has no kinds: the first three are <unk>, <s>, </s>, then come the bytes. <s> and </s>
/// are written with line breaks around them.
TokenKind llama2c_kind(size_t index, std::string_view piece) {
  if (index == 0) return TokenKind::unknown;
  if (index <= 2) return TokenKind::control;
  return byte_of_piece(piece) ? TokenKind::byte : TokenKind::normal;
}

std::string marked(std::string_view piece) {
  std::string text;
  for (const char c : piece) {
    if (c == ' ') {
      text += "\xE2\x96\x81";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Result<TokenizerParts> tokenizer_from_llama2c(std::string_view bytes) {
  auto parts = std::make_unique<Tokenizer::Parts>();
  BinaryReader reader(bytes);
  (void)reader.number<int32_t>();  // the length of the longest piece
  while (reader.is_sound() && !reader.is_at_end()) {
    const auto score = reader.number<float>();
    const auto length = reader.number<int32_t>();
    auto piece = reader.take(length < 0 ? SIZE_MAX : static_cast<size_t>(length));
    const size_t index = parts->vocabulary.size();
    const auto kind = llama2c_kind(index, piece);
    if (index == 1) piece = "<s>";
    if (index == 2) piece = "</s>";
    parts->vocabulary.add(marked(piece), kind, score);
  }
  if (!reader.is_sound() || parts->vocabulary.size() < 3)
    return fail("the table of a llama2.c tokenizer is malformed or incomplete");
  parts->vocabulary.build_index();
  parts->special = {.bos = 1, .eos = 2, .unk = 0};
  parts->prefix = {1};
  SentencePieceOptions options;
  options.rules.remove_extra_whitespaces = false;
  if (auto set = set_sentencepiece_bpe(*parts, std::move(options)); !set) return fail_from(set);
  add_control_tokens(*parts, false);
  find_end_of_generation(*parts);
  return parts;
}

}  // namespace trilobite
