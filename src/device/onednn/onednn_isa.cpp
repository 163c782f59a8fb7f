#include "device/onednn/onednn_isa.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/cpu_info.hpp"
#include "device/isa_level.hpp"

namespace trilobite {
namespace {

/// What the library calls the level; the best it has for the highest one.
dnnl::cpu_isa isa_of(IsaLevel level) {
  switch (level) {
    case IsaLevel::baseline:
    case IsaLevel::sse4: return dnnl::cpu_isa::sse41;
    case IsaLevel::avx2: return dnnl::cpu_isa::avx2;
    case IsaLevel::avx3: return dnnl::cpu_isa::avx512_core;
    case IsaLevel::avx3_dl: return dnnl::cpu_isa::avx512_core_vnni;
  }
  std::unreachable();
}

}  // namespace

std::string_view onednn_isa_text(dnnl::cpu_isa isa) {
  // The numbers are sets of bits; AVX2 with VNNI has the highest one without being the most.
  const auto bits = static_cast<unsigned>(isa);
  const auto amx = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
  if ((bits & amx) == amx) return "AVX-512 with AMX";
  if (isa == dnnl::cpu_isa::avx512_core_bf16) return "AVX-512 with bf16";
  if (isa == dnnl::cpu_isa::avx512_core_vnni) return "AVX-512 with VNNI";
  if (isa == dnnl::cpu_isa::avx512_core) return "AVX-512";
  if (isa == dnnl::cpu_isa::avx2_vnni) return "AVX2 with VNNI";
  if (isa == dnnl::cpu_isa::avx2) return "AVX2";
  if (isa == dnnl::cpu_isa::avx) return "AVX";
  return isa == dnnl::cpu_isa::sse41 ? "SSE4.1" : "an unnamed instruction set";
}

Result<void> narrow_onednn_isa(const std::string& isa) {
  const auto cpu = read_cpu_info();
  const auto level = choose_level(isa, cpu);
  if (!level) return fail_from(level);
  const bool narrowing = *level < levels_of(cpu).back();
  const auto wanted = isa_of(*level);
  // It answers with an error once a primitive exists; what counts is what is in force now.
  if (narrowing) static_cast<void>(dnnl::set_max_cpu_isa(wanted));
  const auto effective = dnnl::get_effective_cpu_isa();
  const auto wanted_bits = static_cast<unsigned>(wanted);
  const bool contains = (static_cast<unsigned>(effective) & wanted_bits) == wanted_bits;
  if (narrowing ? effective == wanted : contains) return {};
  return fail(fmt::format("oneDNN already uses {}, and that is fixed once per process; use another "
                          "process",
                          onednn_isa_text(effective)),
              ErrorKind::environment);
}

}  // namespace trilobite
