#include "quant/mixed_precision.hpp"

#include <fmt/format.h>

#include <optional>

namespace trilobite::quant {
namespace {

// They mean something in regular expressions or shells, nothing here, and no layer is called so.
constexpr std::string_view kForeignCharacters = "[](){}^$|\\+";

std::optional<std::string> problem_of(std::string_view pattern) {
  if (pattern.empty()) return "must not be empty; '*' matches every layer";
  const auto at = pattern.find_first_of(kForeignCharacters);
  if (at == std::string_view::npos) return std::nullopt;
  return fmt::format("holds '{}'; a pattern knows only '*' (any text) and '?' (any one character)",
                     pattern[at]);
}

std::optional<Scheme> read_scheme(ObjectReader& reader, std::string_view key) {
  reader.require(key);
  const auto name = reader.text(key);
  if (!name) return std::nullopt;
  auto scheme = find_scheme(*name);
  if (scheme) return *std::move(scheme);
  reader.problem(key, scheme.error().message());
  return std::nullopt;
}

Result<PrecisionRule> read_rule(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  reader.require("pattern");
  PrecisionRule rule{.pattern = reader.text("pattern").value_or("*")};
  if (const auto problem = problem_of(rule.pattern)) reader.problem("pattern", *problem);
  auto scheme = read_scheme(reader, "scheme");
  if (auto done = reader.finish(); !done) return fail_from(done);
  rule.scheme = *std::move(scheme);
  return rule;
}

/// True only when `above` certainly matches whatever `pattern` matches. Without '?' in it, whatever
/// its stars take of the other pattern's text they take of any name that pattern stands for.
bool takes_all_of(std::string_view above, std::string_view pattern) {
  return above == pattern ||
         (above.find('?') == std::string_view::npos && pattern_matches(above, pattern));
}

/// A rule that can never decide is a mistake in the order.
Result<void> check_reachable(const PrecisionPlan& plan, const PrecisionRule& rule,
                             std::string_view place) {
  for (const auto& above : plan.rules) {
    if (!takes_all_of(above.pattern, rule.pattern)) continue;
    return fail(fmt::format("{}.pattern: '{}' is never reached, '{}' above it takes all its layers",
                            place, rule.pattern, above.pattern));
  }
  return {};
}

double bits_per_weight(size_t bytes, size_t weights) {
  return weights == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(weights);
}

}  // namespace

Result<PrecisionPlan> precision_plan_from_json(const Json& json) {
  ObjectReader reader(json, "plan");
  PrecisionPlan plan;
  auto otherwise = read_scheme(reader, "default");
  const Json* layers = reader.array("layers");
  if (auto done = reader.finish(); !done) return fail_from(done);
  plan.otherwise = *std::move(otherwise);
  for (size_t i = 0; layers != nullptr && i < layers->size(); ++i) {
    const auto place = fmt::format("plan.layers[{}]", i);
    auto rule = read_rule((*layers)[i], place);
    if (!rule) return fail_from(rule);
    if (auto done = check_reachable(plan, *rule, place); !done) return fail_from(done);
    plan.rules.push_back(*std::move(rule));
  }
  return plan;
}

bool pattern_matches(std::string_view pattern, std::string_view name) {
  // Back to the last star, which then takes one byte more, whenever the text after it does not fit.
  constexpr size_t kNone = std::string_view::npos;
  size_t p = 0;
  size_t n = 0;
  size_t after_star = kNone;
  size_t star_ends = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_ends = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (after_star != kNone) {
      p = after_star;
      n = ++star_ends;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

const Scheme& scheme_for(const PrecisionPlan& plan, std::string_view layer) {
  for (const auto& rule : plan.rules) {
    if (pattern_matches(rule.pattern, layer)) return rule.scheme;
  }
  return plan.otherwise;
}

Result<PlanCost> cost_of(const PrecisionPlan& plan, std::span<const LayerShape> layers) {
  PlanCost cost;
  for (const auto& layer : layers) {
    const Scheme& scheme = scheme_for(plan, layer.name);
    const auto size = stored_size(scheme, layer.rows, layer.cols);
    if (!size) return fail_from(size, fmt::format("layer '{}'", layer.name));
    const size_t weights = layer.rows * layer.cols;
    cost.layers.push_back({.name = layer.name,
                           .scheme = scheme.name,
                           .weights = weights,
                           .bytes = size->total_bytes(),
                           .bits_per_weight = bits_per_weight(size->total_bytes(), weights)});
    const bool fits = !__builtin_add_overflow(cost.weights, weights, &cost.weights) &&
                      !__builtin_add_overflow(cost.bytes, size->total_bytes(), &cost.bytes);
    if (!fits)
      return fail(fmt::format("layer '{}': all layers together are too large", layer.name));
  }
  cost.bits_per_weight = bits_per_weight(cost.bytes, cost.weights);
  return cost;
}

}  // namespace trilobite::quant
