// Normalisers and pre-tokenisers of tokenizer.json.

#include <fmt/format.h>

#include "tokenizer/base64.hpp"
#include "tokenizer/json_components.hpp"

namespace trilobite {
namespace {

// The regular expressions that models in use split with, as their files write them.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

NormalizeStep read_replace(const LargeJson& json) {
  const auto& pattern = json.at("pattern");
  const auto to = json.at("content").get<std::string>();
  if (pattern.contains("String")) {
    const auto from = pattern.at("String").get<std::string>();
    if (from.empty()) throw JsonProblem("a Replace normalizer replaces nothing");
    return ReplaceText{from, to};
  }
  const auto regex = pattern.at("Regex").get<std::string>();
  if (regex == " {2,}") return ReplaceSpaceRuns{to};
  not_supported("the regular expression of a Replace normalizer", regex);
}

NormalizeStep read_bert(const LargeJson& json) {
  const bool lowercase = json.value("lowercase", true);
  const auto& strip = member(json, "strip_accents");
  return BertClean{.clean_text = json.value("clean_text", true),
                   .separate_cjk = json.value("handle_chinese_chars", true),
                   .strip_accents = strip.is_null() ? lowercase : strip.get<bool>(),
                   .lowercase = lowercase};
}

NormalizeStep read_precompiled(const LargeJson& json) {
  const auto blob = decode_base64(json.at("precompiled_charsmap").get<std::string>());
  if (!blob) throw JsonProblem("the precompiled_charsmap is not base64");
  auto rules = Charsmap::parse(*blob);
  if (!rules) throw JsonProblem(rules.error().message());
  return PrecompiledClusters{*std::move(rules)};
}

Metaspace read_metaspace(const LargeJson& json) {
  Metaspace step{.marker = json.value("replacement", std::string("\xE2\x96\x81"))};
  const auto scheme = json.value("prepend_scheme", std::string("always"));
  if (scheme == "first") step.prepend = Metaspace::Prepend::first_only;
  if (scheme == "never" || !json.value("add_prefix_space", true))
    step.prepend = Metaspace::Prepend::never;
  return step;
}

void add_metaspace(const LargeJson& json, Tokenizer::Parts& parts) {
  auto step = read_metaspace(json);
  if (parts.splits.size() == 1 && std::holds_alternative<SpaceSeparated>(parts.splits[0]) &&
      step.prepend == Metaspace::Prepend::always) {
    parts.splits.clear();
    step.each_word = true;
  } else if (!parts.splits.empty()) {
    not_supported("the pre-tokenizer", "Metaspace after another one");
  }
  if (json.value("split", true)) parts.splits.emplace_back(BeforeMarker{step.marker});
  if (step.each_word && parts.splits.empty())
    not_supported("the pre-tokenizer", "WhitespaceSplit and Metaspace without split");
  parts.rewriter.emplace_back(std::move(step));
}

void add_byte_level(const LargeJson& json, Tokenizer::Parts& parts) {
  if (json.value("add_prefix_space", true)) {
    if (!parts.splits.empty())
      not_supported("the pre-tokenizer", "ByteLevel with add_prefix_space after another one");
    parts.rewriter.emplace_back(PrefixSpace());
  }
  if (json.value("use_regex", true)) parts.splits.emplace_back(Gpt2Words());
}

void add_split(const LargeJson& json, Tokenizer::Parts& parts) {
  const auto& pattern = json.at("pattern");
  const auto behavior = json.value("behavior", std::string());
  const bool inverted = json.value("invert", false);
  // These expressions match everything, so what matches is isolated either way.
  const bool isolates =
      (behavior == "Isolated" && !inverted) || (behavior == "Removed" && inverted);
  if (!pattern.contains("Regex") || !isolates)
    not_supported("the pre-tokenizer", fmt::format("Split with behavior '{}'", behavior));
  const auto regex = pattern.at("Regex").get<std::string>();
  if (regex == kGpt2Pattern) {
    parts.splits.emplace_back(Gpt2Words());
  } else if (regex == kLlama3Pattern) {
    parts.splits.emplace_back(Llama3Words());
  } else if (regex == kQwen2Pattern) {
    parts.splits.emplace_back(Llama3Words{.most_digits = 1});
  } else {
    not_supported("the regular expression of a Split pre-tokenizer", regex);
  }
}

}  // namespace

void add_normalizer(const LargeJson& json, std::vector<NormalizeStep>& steps) {
  const auto type = type_of(json);
  if (type.empty()) return;
  if (type == "Sequence") {
    for (const auto& part : json.at("normalizers")) add_normalizer(part, steps);
  } else if (type == "NFC") {
    steps.emplace_back(UnicodeForm::nfc);
  } else if (type == "NFD") {
    steps.emplace_back(UnicodeForm::nfd);
  } else if (type == "NFKC") {
    steps.emplace_back(UnicodeForm::nfkc);
  } else if (type == "NFKD") {
    steps.emplace_back(UnicodeForm::nfkd);
  } else if (type == "Lowercase") {
    steps.emplace_back(Lowercase());
  } else if (type == "StripAccents") {
    steps.emplace_back(StripAccents());
  } else if (type == "Strip") {
    steps.emplace_back(StripSpace{json.value("strip_left", true), json.value("strip_right", true)});
  } else if (type == "Replace") {
    steps.push_back(read_replace(json));
  } else if (type == "Prepend") {
    steps.emplace_back(PrependText{json.at("prepend").get<std::string>()});
  } else if (type == "BertNormalizer") {
    steps.push_back(read_bert(json));
  } else if (type == "Precompiled") {
    steps.push_back(read_precompiled(json));
  } else {
    not_supported("the normalizer", type);
  }
}

void add_pre_tokenizer(const LargeJson& json, Tokenizer::Parts& parts) {
  const auto type = type_of(json);
  if (type.empty()) return;
  if (type == "Sequence") {
    for (const auto& part : json.at("pretokenizers")) add_pre_tokenizer(part, parts);
  } else if (type == "ByteLevel") {
    add_byte_level(json, parts);
  } else if (type == "Split") {
    add_split(json, parts);
  } else if (type == "Metaspace") {
    add_metaspace(json, parts);
  } else if (type == "BertPreTokenizer") {
    parts.splits.emplace_back(BertWords());
  } else if (type == "Whitespace") {
    parts.splits.emplace_back(WordsAndSymbols());
  } else if (type == "WhitespaceSplit") {
    parts.splits.emplace_back(SpaceSeparated());
  } else if (type == "Punctuation" && json.value("behavior", "Isolated") == "Isolated") {
    parts.splits.emplace_back(IsolatedPunctuation());
  } else if (type == "Digits") {
    parts.splits.emplace_back(IsolatedDigits{json.value("individual_digits", false)});
  } else {
    not_supported("the pre-tokenizer", type);
  }
}

bool is_byte_level(const LargeJson& pre_tokenizer) {
  const auto type = type_of(pre_tokenizer);
  if (type == "ByteLevel") return true;
  if (type != "Sequence") return false;
  for (const auto& part : pre_tokenizer.at("pretokenizers")) {
    if (is_byte_level(part)) return true;
  }
  return false;
}

}  // namespace trilobite
