// Post-processors and decoders of tokenizer.json.

#include "tokenizer/json_components.hpp"

namespace trilobite {
namespace {

using Joining = DecoderRules::Joining;
using Leading = DecoderRules::Leading;

TokenId checked_id(const LargeJson& id, const Tokenizer::Parts& parts) {
  const auto value = id.get<int64_t>();
  if (value < 0 || value >= static_cast<int64_t>(parts.vocabulary.size()))
    throw JsonProblem("the post-processor names an id outside the vocabulary");
  return static_cast<TokenId>(value);
}

void add_template(const LargeJson& json, Tokenizer::Parts& parts) {
  bool after_text = false;
  for (const auto& item : json.at("single")) {
    if (item.contains("Sequence")) {
      after_text = true;
      continue;
    }
    const auto name = item.at("SpecialToken").at("id").get<std::string>();
    for (const auto& id : json.at("special_tokens").at(name).at("ids"))
      (after_text ? parts.suffix : parts.prefix).push_back(checked_id(id, parts));
  }
}

void read_decoder_part(const LargeJson& json, DecoderRules& rules) {
  const auto type = type_of(json);
  if (type == "Sequence") {
    for (const auto& part : json.at("decoders")) read_decoder_part(part, rules);
  } else if (type == "ByteLevel" || type == "Fuse") {
    // Pieces are bytes already, and they are joined anyway.
  } else if (type == "ByteFallback") {
    rules.byte_tokens = true;
  } else if (type == "WordPiece") {
    rules.joining = Joining::wordpiece;
    rules.prefix = json.value("prefix", std::string("##"));
    rules.cleanup = json.value("cleanup", true);
  } else if (type == "Metaspace") {
    rules.joining = Joining::marked_words;
    rules.marker = json.value("replacement", std::string("\xE2\x96\x81"));
    const bool prepends = json.value("add_prefix_space", true) &&
                          json.value("prepend_scheme", std::string("always")) != "never";
    rules.leading = prepends ? Leading::all_dropped : Leading::kept;
  } else if (type == "Replace" && member(json.at("pattern"), "String").is_string() &&
             json.at("content") == " ") {
    rules.joining = Joining::marked_words;
    rules.marker = json.at("pattern").at("String").get<std::string>();
  } else if (type == "Strip" && json.value("content", " ") == " " && json.value("stop", 0) == 0) {
    if (json.value("start", 0) > 0) rules.leading = Leading::first_dropped;
  } else {
    not_supported("the decoder", type);
  }
}

}  // namespace

void add_post_processor(const LargeJson& json, Tokenizer::Parts& parts) {
  const auto type = type_of(json);
  if (type.empty() || type == "ByteLevel") return;
  if (type == "Sequence") {
    for (const auto& part : json.at("processors")) add_post_processor(part, parts);
  } else if (type == "TemplateProcessing") {
    add_template(json, parts);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    parts.prefix.push_back(checked_id(json.at("cls").at(1), parts));
    parts.suffix.push_back(checked_id(json.at("sep").at(1), parts));
  } else {
    not_supported("the post-processor", type);
  }
}

DecoderRules read_decoder(const LargeJson& json) {
  DecoderRules rules;
  if (json.is_null()) {
    rules.joining = Joining::spaced;
  } else {
    read_decoder_part(json, rules);
  }
  return rules;
}

}  // namespace trilobite
