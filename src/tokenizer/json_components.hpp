#pragma once
// The components of a tokenizer.json, each translated into our own parts. What is not known is an
// error that names it. They throw JsonProblem (or nlohmann's own exceptions), which
// tokenizer_from_json catches: every member may be absent or of the wrong type.

#include <stdexcept>

#include "tokenizer/large_json.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {

struct JsonProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The "type" of a component; "" for null.
std::string type_of(const LargeJson& component);
/// The member, or null.
const LargeJson& member(const LargeJson& object, const char* name);
[[noreturn]] void not_supported(const char* what, const std::string& which);

void add_normalizer(const LargeJson& json, std::vector<NormalizeStep>& steps);
void add_pre_tokenizer(const LargeJson& json, Tokenizer::Parts& parts);
/// True when a pre-tokeniser makes bytes of the text.
bool is_byte_level(const LargeJson& pre_tokenizer);
void add_post_processor(const LargeJson& json, Tokenizer::Parts& parts);
DecoderRules read_decoder(const LargeJson& json);
/// Before `finish_model`: the vocabulary.
void read_vocabulary(const LargeJson& model, bool byte_level, Tokenizer::Parts& parts);
/// After the kinds of added tokens are known.
void finish_model(const LargeJson& model, bool byte_level, Tokenizer::Parts& parts);

}  // namespace trilobite
