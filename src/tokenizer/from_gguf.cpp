// Tokenizers from the metadata of GGUF files.

#include <fmt/format.h>

#include <array>

#include "tokenizer/building.hpp"
#include "tokenizer/byte_alphabet.hpp"
#include "tokenizer/loaders.hpp"

namespace trilobite {
namespace {

using gguf::Gguf;
using gguf::ValueType;

constexpr std::string_view kPrefix = "tokenizer.ggml.";

std::string key(std::string_view name) { return fmt::format("{}{}", kPrefix, name); }

/// Reads the keys of one file; the first problem is kept.
class GgufLoader {
 public:
  explicit GgufLoader(const Gguf& file)
      : file_(file), parts_(std::make_unique<Tokenizer::Parts>()) {}

  Result<TokenizerParts> run() {
    const auto model = file_.text(key("model"));
    if (!model) return fail_from(model);
    is_byte_level_ = *model == "gpt2";
    if (auto read = read_vocabulary(); !read) return fail_from(read);
    if (auto read = read_special(); !read) return fail_from(read);
    auto built = build(*model);
    if (!built) return fail_from(built);
    if (auto read = read_additions(); !read) return fail_from(read);
    add_control_tokens(*parts_, is_byte_level_ || *model == "bert");
    find_end_of_generation(*parts_);
    return std::move(parts_);
  }

 private:
  Result<void> build(std::string_view model) {
    if (model == "gpt2") return build_byte_level();
    if (model == "llama") return build_sentencepiece_bpe();
    if (model == "bert") return build_wordpiece();
    if (model == "t5") return build_unigram();
    return fail(fmt::format("{} is '{}', which is not supported (gpt2, llama, bert and t5 are)",
                            key("model"), model));
  }

  Result<void> read_vocabulary() {
    const auto tokens = file_.array(key("tokens"), ValueType::text);
    if (!tokens) return fail_from(tokens);
    const auto& texts = (*tokens)->texts;
    if (texts.size() > size_t{INT32_MAX}) return fail("the vocabulary is too large");
    const auto kinds = read_kinds(texts.size());
    if (!kinds) return fail_from(kinds);
    const auto scores = read_scores(texts.size());
    if (!scores) return fail_from(scores);
    auto& vocabulary = parts_->vocabulary;
    vocabulary.reserve(texts.size(), 8 * texts.size());
    std::string bytes;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto kind = kinds->empty() ? TokenKind::normal : (*kinds)[i];
      const float score = scores->empty() ? 0 : (*scores)[i];
      bytes.clear();
      if (is_byte_level_ && kind == TokenKind::normal) {
        append_bytes_of(texts[i], bytes);
        vocabulary.add(bytes, kind, score);
      } else {
        vocabulary.add(texts[i], kind, score);
      }
    }
    vocabulary.build_index();
    return {};
  }

  /// None when the file does not say.
  Result<std::vector<TokenKind>> read_kinds(size_t count) const {
    std::vector<TokenKind> kinds;
    if (file_.find(key("token_type")) == nullptr) return kinds;
    const auto types = file_.array(key("token_type"), ValueType::i32);
    if (!types) return fail_from(types);
    if (auto same = expect_count(**types, "token_type", count); !same) return fail_from(same);
    for (size_t i = 0; i < count; ++i) {
      const auto type = (*types)->number<int32_t>(i);
      if (type < 0 || type > 6)
        return fail(
            fmt::format("{}: token {} has the unknown type {}", key("token_type"), i, type));
      kinds.push_back(type == 0 ? TokenKind::normal : static_cast<TokenKind>(type));
    }
    return kinds;
  }
  Result<std::vector<float>> read_scores(size_t count) const {
    std::vector<float> scores;
    if (file_.find(key("scores")) == nullptr) return scores;
    const auto values = file_.array(key("scores"), ValueType::f32);
    if (!values) return fail_from(values);
    if (auto same = expect_count(**values, "scores", count); !same) return fail_from(same);
    for (size_t i = 0; i < count; ++i) scores.push_back((*values)->number<float>(i));
    return scores;
  }
  static Result<void> expect_count(const gguf::Array& array, std::string_view name, size_t count) {
    if (array.count == count) return {};
    return fail(fmt::format("{} has {} entries for {} tokens", key(name), array.count, count));
  }

  Result<std::optional<TokenId>> token(std::string_view name) const {
    const auto full = key(name);
    if (file_.find(full) == nullptr) return std::nullopt;
    const auto id = file_.unsigned_integer(full);
    if (!id) return fail_from(id);
    if (*id >= parts_->vocabulary.size()) {
      return fail(
          fmt::format("{} is {}, but there are {} tokens", full, *id, parts_->vocabulary.size()));
    }
    return static_cast<TokenId>(*id);
  }
  /// The converter's old spelling of "separator" is in many files.
  Result<void> read_special() {
    struct Field {
      std::string_view name;
      std::optional<TokenId> SpecialTokens::* member;
    };
    constexpr std::array kFields = {Field{"bos_token_id", &SpecialTokens::bos},
                                    Field{"cls_token_id", &SpecialTokens::bos},
                                    Field{"eos_token_id", &SpecialTokens::eos},
                                    Field{"seperator_token_id", &SpecialTokens::eos},
                                    Field{"separator_token_id", &SpecialTokens::eos},
                                    Field{"unknown_token_id", &SpecialTokens::unk},
                                    Field{"padding_token_id", &SpecialTokens::pad},
                                    Field{"mask_token_id", &SpecialTokens::mask},
                                    Field{"eot_token_id", &SpecialTokens::eot}};
    const bool is_bert = file_.text(key("model")).value_or("") == "bert";
    for (const auto& [name, member] : kFields) {
      const bool is_bert_name = name.starts_with("cls") || name.starts_with("sep");
      if (is_bert_name && !is_bert) continue;
      const auto id = token(name);
      if (!id) return fail_from(id);
      if (*id) parts_->special.*member = *id;
    }
    return {};
  }

  bool flag(std::string_view name, bool otherwise) const {
    return file_.boolean(key(name)).value_or(otherwise);
  }
  Result<void> read_additions() {
    auto& parts = *parts_;
    if (flag("add_bos_token", adds_bos_) && parts.special.bos)
      parts.prefix.push_back(*parts.special.bos);
    if (flag("add_eos_token", adds_eos_) && parts.special.eos)
      parts.suffix.push_back(*parts.special.eos);
    return {};
  }

  Result<void> build_byte_level() {
    const bool is_gpt2 = file_.text("general.architecture").value_or("") == "gpt2";
    const std::string_view pre = file_.text(key("pre")).value_or("default");
    bool whole_words_first = false;
    if (pre == "gpt-2" || (pre == "default" && is_gpt2)) {
      parts_->splits.emplace_back(Gpt2Words());
    } else if (pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3") {
      parts_->splits.emplace_back(Llama3Words());
      adds_bos_ = whole_words_first = true;
    } else if (pre == "qwen2") {
      parts_->splits.emplace_back(Llama3Words{.most_digits = 1});
    } else {
      return fail(
          fmt::format("{} is '{}', a way of splitting text that is not supported (gpt-2, "
                      "llama-bpe and qwen2 are)",
                      key("pre"), pre));
    }
    const auto merges = file_.array(key("merges"), ValueType::text);
    if (!merges) return fail_from(merges);
    MergeListBuilder builder(parts_->vocabulary, (*merges)->count, true);
    for (const auto line : (*merges)->texts) builder.add_line(line);
    auto table = builder.finish();
    if (!table) return fail_from(table, key("merges"));
    set_byte_level_model(*parts_, *std::move(table), whole_words_first);
    return {};
  }

  Result<void> build_sentencepiece_bpe() {
    if (file_.find(key("scores")) == nullptr)
      return fail(key("scores") + " is missing, which a llama tokenizer needs");
    adds_bos_ = true;
    SentencePieceOptions options;
    options.rules.add_dummy_prefix = flag("add_space_prefix", true);
    options.rules.remove_extra_whitespaces = flag("remove_extra_whitespaces", false);
    return set_sentencepiece_bpe(*parts_, std::move(options));
  }

  Result<void> build_unigram() {
    if (file_.find(key("scores")) == nullptr)
      return fail(key("scores") + " is missing, which a t5 tokenizer needs");
    adds_eos_ = true;
    SentencePieceOptions options;
    options.rules.add_dummy_prefix = flag("add_space_prefix", true);
    options.rules.remove_extra_whitespaces = flag("remove_extra_whitespaces", true);
    if (const auto* value = file_.find(key("precompiled_charsmap"))) {
      const auto* array = std::get_if<gguf::Array>(value);
      if (array == nullptr || gguf::size_of(array->type) != 1)
        return fail(key("precompiled_charsmap") + " is not an array of bytes");
      auto rules = Charsmap::parse(
          {reinterpret_cast<const char*>(array->numbers.data()), array->numbers.size()});
      if (!rules) return fail_from(rules, key("precompiled_charsmap"));
      options.rules.rules = *std::move(rules);
    }
    set_sentencepiece_unigram(*parts_, std::move(options));
    return {};
  }

  /// Words are marked by the converter, continuations are not; "[CLS]" and its like are kept.
  Result<void> build_wordpiece() {
    adds_bos_ = adds_eos_ = true;
    auto& parts = *parts_;
    for (const auto& id : {parts.special.bos, parts.special.eos, parts.special.pad,
                           parts.special.mask, parts.special.unk}) {
      if (id) parts.vocabulary.set_kind(*id, TokenKind::control);
    }
    parts.normalizer.emplace_back(BertClean());
    parts.splits.emplace_back(BertWords());
    set_wordpiece_model(parts, {.beginning = "\xE2\x96\x81"});
    parts.decoder = {.joining = DecoderRules::Joining::marked_words,
                     .leading = DecoderRules::Leading::first_dropped};
    return {};
  }

  const Gguf& file_;
  TokenizerParts parts_;
  bool is_byte_level_ = false;
  bool adds_bos_ = false;
  bool adds_eos_ = false;
};

}  // namespace

Result<TokenizerParts> tokenizer_from_gguf(const Gguf& file) { return GgufLoader(file).run(); }

}  // namespace trilobite
