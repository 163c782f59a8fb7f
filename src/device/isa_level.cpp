#include "device/isa_level.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace trilobite {
namespace {

struct LevelFacts {
  IsaLevel level;
  std::string_view name;
  std::vector<std::string_view> needs;  // beyond the level before, as the kernel spells them
};

const std::array<LevelFacts, 5>& all_levels() {
  static const std::array<LevelFacts, 5> levels{{
      {IsaLevel::baseline, "baseline", {}},
      {IsaLevel::sse4, "sse4", {"ssse3", "sse4_1", "sse4_2"}},
      {IsaLevel::avx2, "avx2", {"avx2", "fma", "f16c"}},
      {IsaLevel::avx3, "avx3", {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}},
      {IsaLevel::avx3_dl, "avx3_dl", {"avx512_vnni", "avx512vbmi"}},
  }};
  return levels;
}

}  // namespace

std::string_view name_of(IsaLevel level) { return all_levels()[static_cast<size_t>(level)].name; }

std::vector<IsaLevel> levels_of(const CpuInfo& cpu) {
  std::vector<IsaLevel> levels;
  for (const auto& facts : all_levels()) {
    if (!std::ranges::all_of(facts.needs, [&](auto feature) { return cpu.has(feature); })) break;
    levels.push_back(facts.level);
  }
  return levels;
}

Result<IsaLevel> choose_level(std::string_view name, const CpuInfo& cpu) {
  const auto available = levels_of(cpu);
  if (name.empty()) return available.back();
  // A level of ours alone: the libraries find AVX-VNNI by themselves, or have no use for it.
  if (name == "avx2_vnni" && cpu.has("avx_vnni")) name = "avx2";
  std::vector<std::string_view> names;
  for (const auto level : available) {
    if (name_of(level) == name) return level;
    names.push_back(name_of(level));
  }
  const bool known =
      std::ranges::any_of(all_levels(), [&](const auto& facts) { return facts.name == name; });
  return fail(fmt::format("instruction set '{}' is {}; available: {}", name,
                          known ? "not available on this machine" : "unknown to this device",
                          fmt::join(names, ", ")),
              known ? ErrorKind::environment : ErrorKind::input);
}

std::string product_features(const CpuInfo& cpu) {
  std::vector<std::string_view> found;
  for (const auto* feature :
       {"fma", "f16c", "avx_vnni", "avx512_vnni", "avx512vbmi", "avx512_bf16"}) {
    if (cpu.has(feature)) found.emplace_back(feature);
  }
  return found.empty() ? "no SIMD extras" : fmt::format("{}", fmt::join(found, " "));
}

}  // namespace trilobite
