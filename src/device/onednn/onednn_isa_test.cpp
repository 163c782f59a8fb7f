#include "device/onednn/onednn_isa.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

TEST(OnednnIsa, every_instruction_set_has_its_own_name) {
  using enum dnnl::cpu_isa;
  EXPECT_EQ(onednn_isa_text(sse41), "SSE4.1");
  EXPECT_EQ(onednn_isa_text(avx), "AVX");
  EXPECT_EQ(onednn_isa_text(avx2), "AVX2");
  EXPECT_EQ(onednn_isa_text(avx2_vnni), "AVX2 with VNNI");
  EXPECT_EQ(onednn_isa_text(avx512_core), "AVX-512");
  EXPECT_EQ(onednn_isa_text(avx512_core_vnni), "AVX-512 with VNNI");
  EXPECT_EQ(onednn_isa_text(avx512_core_bf16), "AVX-512 with bf16");
  EXPECT_EQ(onednn_isa_text(avx512_core_amx), "AVX-512 with AMX");
}

}  // namespace
}  // namespace trilobite
