#include "modelfile/file_type.hpp"

#include "base/error.hpp"

namespace trilobite::modelfile {

uint32_t file_type_of(gguf::TensorType type) {
  using gguf::TensorType;
  switch (type) {
    case TensorType::f32: return 0;
    case TensorType::f16: return 1;
    case TensorType::q4_0: return 2;
    case TensorType::q4_1: return 3;
    case TensorType::q8_0: return 7;
    case TensorType::q4_k: return 14;
    case TensorType::q6_k: return 18;
    case TensorType::bf16: return 32;
    case TensorType::tq1_0: return 36;
    case TensorType::tq2_0: return 37;
    case TensorType::i2_s: return 40;
    case TensorType::iq1_bn:
    case TensorType::iq2_bn: break;
  }
  const bool can_be_written = false;
  TRILOBITE_CHECK(can_be_written);
  return 0;
}

}  // namespace trilobite::modelfile
