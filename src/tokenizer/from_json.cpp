// Hugging Face's tokenizer.json: the components in the order in which they depend on each other.

#include <fmt/format.h>

#include <array>

#include "tokenizer/building.hpp"
#include "tokenizer/json_components.hpp"
#include "tokenizer/loaders.hpp"

namespace trilobite {

std::string type_of(const LargeJson& component) {
  return component.is_null() ? std::string() : component.at("type").get<std::string>();
}

const LargeJson& member(const LargeJson& object, const char* name) {
  static const LargeJson kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

void not_supported(const char* what, const std::string& which) {
  throw JsonProblem(fmt::format("{} '{}' is not supported", what, which));
}

namespace {

/// Puts the tokens into the vocabulary and where they are looked for.
void read_added_tokens(const LargeJson& tokens, Tokenizer::Parts& parts) {
  NormalizeBuffers buffers;
  for (const auto& json : tokens) {
    const auto id = json.at("id").get<int64_t>();
    AddedToken token{.content = json.at("content").get<std::string>(),
                     .id = static_cast<TokenId>(id),
                     .special = json.value("special", false),
                     .single_word = json.value("single_word", false),
                     .lstrip = json.value("lstrip", false),
                     .rstrip = json.value("rstrip", false)};
    if (id < 0 || id >= kMostTokens)
      throw JsonProblem(fmt::format("the added token '{}' has the id {}", token.content, id));
    if (token.content.empty()) continue;
    parts.vocabulary.set(token.id, token.content,
                         token.special ? TokenKind::control : TokenKind::user_defined);
    if (!json.value("normalized", !token.special)) {
      parts.added.add(std::move(token));
      continue;
    }
    const auto normalized =
        normalize(parts.normalizer, {.bytes = token.content}, false, buffers).bytes;
    token.content = std::string(normalized);
    parts.added_after_normalizing.add(std::move(token));
  }
  parts.vocabulary.build_index();
}

/// The file does not say which token is which; models keep to a few names.
void guess_special(Tokenizer::Parts& parts) {
  const auto first_of = [&](std::initializer_list<std::string_view> names) {
    std::optional<TokenId> found;
    for (const auto name : names) {
      if (!found) found = find_control(parts.vocabulary, name);
    }
    return found;
  };
  auto& special = parts.special;
  special.bos = parts.prefix.empty()
                    ? first_of({"<s>", "<|begin_of_text|>", "<bos>", "[CLS]", "<|endoftext|>"})
                    : std::optional(parts.prefix.front());
  special.eos = parts.suffix.empty()
                    ? first_of({"</s>", "<|end_of_text|>", "<eos>", "[SEP]", "<|endoftext|>"})
                    : std::optional(parts.suffix.back());
  special.pad = first_of({"<pad>", "[PAD]", "<|finetune_right_pad_id|>"});
  special.mask = first_of({"<mask>", "[MASK]"});
  special.eot = first_of({"<|eot_id|>", "<|im_end|>", "<end_of_turn>"});
}

TokenizerParts build(const LargeJson& json) {
  auto parts = std::make_unique<Tokenizer::Parts>();
  const auto& model = json.at("model");
  const bool byte_level = is_byte_level(member(json, "pre_tokenizer"));
  add_normalizer(member(json, "normalizer"), parts->normalizer);
  add_pre_tokenizer(member(json, "pre_tokenizer"), *parts);
  read_vocabulary(model, byte_level, *parts);
  if (const auto& added = member(json, "added_tokens"); !added.is_null())
    read_added_tokens(added, *parts);
  finish_model(model, byte_level, *parts);
  add_post_processor(member(json, "post_processor"), *parts);
  parts->decoder = read_decoder(member(json, "decoder"));
  guess_special(*parts);
  find_end_of_generation(*parts);
  return parts;
}

}  // namespace

Result<TokenizerParts> tokenizer_from_json(std::string_view text) {
  const auto json = parse_large_json(text);
  if (!json) return fail_from(json);
  try {
    return build(*json);
  } catch (const LargeJson::exception& problem) {
    return fail(fmt::format("tokenizer.json is not as expected: {}", problem.what()));
  } catch (const JsonProblem& problem) {
    return fail(problem.what());
  }
}

}  // namespace trilobite
