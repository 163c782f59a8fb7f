#include "kernels/isa.hpp"

#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>

namespace trilobite::kernels {
namespace {

struct Target {
  int64_t bit;  // Highway's: a lower bit is a better target
  std::string_view name;
  bool with_vnni = false;  // AVX-VNNI, which Highway has no target of its own for
};

// Without any SIMD, Highway emulates 128-bit vectors in plain C++, or uses one lane where the
// compiler is known to get that wrong (GCC before 12.3). Both are our "scalar".
constexpr std::array kTargets{
#if HWY_ARCH_X86
    Target{HWY_AVX3_DL, "avx3_dl"},
    Target{HWY_AVX3, "avx3"},
    Target{HWY_AVX2, "avx2_vnni", true},
    Target{HWY_AVX2, "avx2"},
    Target{HWY_SSE4, "sse4"},
    Target{HWY_SSSE3, "ssse3"},
#elif HWY_ARCH_ARM
    Target{HWY_SVE2_128, "sve2_128"}, Target{HWY_SVE_256, "sve_256"}, Target{HWY_SVE2, "sve2"},
    Target{HWY_SVE, "sve"},           Target{HWY_NEON, "neon"},
#endif
    Target{HWY_EMU128, "scalar"},
    Target{HWY_SCALAR, "scalar"}};

bool has_avx_vnni() {
#if HWY_ARCH_X86
  static const bool has = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 4 & 1) != 0;
  }();
  return has;
#else
  return false;
#endif
}

bool is_from_amd() {
#if HWY_ARCH_X86
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0, &eax, &ebx, &ecx, &edx) != 0 && ebx == signature_AMD_ebx &&
         ecx == signature_AMD_ecx && edx == signature_AMD_edx;
#else
  return false;
#endif
}

/// Asked once: Highway executes CPUID each time, which costs some 20 us in a virtual machine.
int64_t usable_targets() {
  static const int64_t targets =
      (hwy::SupportedTargets() & (HWY_TARGETS) & ~(HWY_EMU128 | HWY_SCALAR)) |
      (HWY_BASELINE_SCALAR);
  return targets;
}

// The dispatch tables of the kernels follow Highway's process-wide mask, in which a target stands
// for itself and everything worse. Ours remembers what was put there, for it cannot be read back.
int64_t chosen_targets = 0;
bool vnni_chosen = has_avx_vnni();

bool is_usable(const Target& target) {
  return (usable_targets() & target.bit) != 0 && (!target.with_vnni || has_avx_vnni());
}

void choose(int64_t targets, bool with_vnni) {
  chosen_targets = targets;
  vnni_chosen = with_vnni;
  hwy::GetChosenTarget().Update(targets);
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

std::vector<std::string_view> available_isas() {
  std::vector<std::string_view> names;
  for (const auto& target : kTargets) {
    if (is_usable(target)) names.push_back(target.name);
  }
  return names;
}

Result<void> set_isa(std::string_view name) {
  if (name.empty()) {
    choose(usable_targets(), has_avx_vnni());
    return {};
  }
  for (const auto& target : kTargets) {
    if (target.name != name || !is_usable(target)) continue;
    choose(usable_targets() & ~(target.bit - 1), target.with_vnni);
    return {};
  }
  const bool known = std::ranges::any_of(kTargets, [&](auto& t) { return t.name == name; });
  return fail("instruction set '" + std::string(name) + "' is " +
                  (known ? "not available on this machine" : "unknown") +
                  "; available: " + joined(available_isas()),
              known ? ErrorKind::environment : ErrorKind::input);
}

std::string_view current_isa() {
  const int64_t targets = chosen_targets != 0 ? chosen_targets : usable_targets();
  const int64_t best = targets & -targets;
  for (const auto& target : kTargets) {
    if (target.bit == best && (!target.with_vnni || vnni_chosen)) return target.name;
  }
  return "scalar";
}

bool avx_vnni_chosen() { return vnni_chosen; }

const bool kFetchesIntoL1 = is_from_amd();

}  // namespace trilobite::kernels
