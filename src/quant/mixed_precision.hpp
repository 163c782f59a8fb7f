#pragma once
// Mixed precision: which scheme each layer of a model gets, and what that takes.
//
//     {"default": "bitnet",
//      "layers": [{"pattern": "*norm*", "scheme": "fp32"}, {"pattern": "token_embd.*", "scheme":
//      "q6_k"}]}
//
// The first pattern that matches a layer's name decides; the default is for all others. In a
// pattern
// `*` stands for any text and `?` for any one byte.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "quant/scheme.hpp"

namespace trilobite::quant {

struct PrecisionRule {
  std::string pattern;
  Scheme scheme;
};

struct PrecisionPlan {
  std::vector<PrecisionRule> rules;  // the first that matches decides
  Scheme otherwise;
};

/// Errors name the place: an unknown scheme or member, a pattern that is empty, that a rule above
/// it already takes whole, or that has characters of other pattern languages.
Result<PrecisionPlan> precision_plan_from_json(const Json& json);

bool pattern_matches(std::string_view pattern, std::string_view name);
const Scheme& scheme_for(const PrecisionPlan& plan, std::string_view layer);

struct LayerShape {
  std::string name;
  size_t rows = 0;
  size_t cols = 0;
};

struct LayerCost {
  std::string name;
  std::string scheme;
  size_t weights = 0;
  size_t bytes = 0;  // codes, scales and zero points
  double bits_per_weight = 0;
};

struct PlanCost {
  std::vector<LayerCost> layers;  // in the order given
  size_t weights = 0;
  size_t bytes = 0;
  double bits_per_weight = 0;  // 0 without layers
};

/// An error names the layer whose shape its scheme cannot hold.
Result<PlanCost> cost_of(const PrecisionPlan& plan, std::span<const LayerShape> layers);

}  // namespace trilobite::quant
