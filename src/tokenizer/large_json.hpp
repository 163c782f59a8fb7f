#pragma once
// JSON with vocabularies in it. base/json.hpp keeps the order of members by searching them, which
// takes minutes for objects with 100,000 of them; here members are sorted.

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.hpp"
#include "tokenizer/vocabulary.hpp"

namespace trilobite {

using LargeJson = nlohmann::json;

/// Ids at or above are refused: no vocabulary is that large, and holes cost memory.
inline constexpr int64_t kMostTokens = int64_t{1} << 24;

Result<LargeJson> parse_large_json(std::string_view text);

/// {"piece": id, ...}; pieces are in GPT-2's byte alphabet when `byte_level`.
Result<void> read_vocabulary_object(const LargeJson& object, bool byte_level,
                                    Vocabulary& vocabulary);

}  // namespace trilobite
