#include "device/onednn/onednn_primitives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trilobite {
namespace {

using Desc = dnnl::memory::desc;
using dnnl::algorithm;

dnnl::memory::data_type type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return dnnl::memory::data_type::f32;
    case DType::f16: return dnnl::memory::data_type::f16;
    case DType::bf16: return dnnl::memory::data_type::bf16;
    default: return dnnl::memory::data_type::undef;
  }
}

Desc desc_of(const ConstTensorView& view) {
  const auto extents = view.shape().extents();
  const dnnl::memory::dims dims(extents.begin(), extents.end());
  dnnl::memory::dims strides(view.strides().begin(), view.strides().begin() + extents.size());
  // The stride of a single element means nothing to us, but the library checks it.
  const Strides dense = contiguous_strides(view.shape());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) strides[i] = dense[i];
  }
  return {dims, type_of(view.dtype()), strides};
}

algorithm algorithm_of(Op op) {
  switch (op) {
    case Op::add: return algorithm::binary_add;
    case Op::mul: return algorithm::binary_mul;
    case Op::sum: return algorithm::reduction_sum;
    case Op::mean: return algorithm::reduction_mean;
    case Op::relu: return algorithm::eltwise_relu;
    case Op::gelu_tanh: return algorithm::eltwise_gelu_tanh;
    case Op::gelu_erf: return algorithm::eltwise_gelu_erf;
    case Op::silu:
    case Op::swish: return algorithm::eltwise_swish;
    default: return algorithm::undef;
  }
}

dnnl::primitive_desc_base describe_eltwise(const OpCall& call, const dnnl::engine& engine) {
  // alpha is the slope below zero of relu, and beta of swish; the others ignore it.
  float alpha = 0;
  if (call.op == Op::swish) alpha = call.beta;
  if (call.op == Op::silu) alpha = 1;
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm_of(call.op),
                                         desc_of(call.inputs[0]), alpha);
  return dnnl::eltwise_forward::primitive_desc(desc, engine);
}

dnnl::primitive_desc_base describe_layernorm(const OpCall& call, const dnnl::engine& engine) {
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const dnnl::layer_normalization_forward::desc desc(dnnl::prop_kind::forward_inference,
                                                     desc_of(call.inputs[0]), call.epsilon, flags);
  return dnnl::layer_normalization_forward::primitive_desc(desc, engine);
}

/// The argument of each input, as the library numbers them.
std::vector<int> input_ids(Op op) {
  switch (op) {
    case Op::add:
    case Op::mul: return {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1};
    case Op::matmul: return {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
    case Op::layernorm: return {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    default: return {DNNL_ARG_SRC};
  }
}

}  // namespace

std::string why_no_primitive(Op op) {
  switch (op) {
    case Op::zeros:
    case Op::ones:
    case Op::randn: return "oneDNN computes on tensors and does not fill them";
    case Op::rmsnorm:
      return fmt::format("oneDNN {}.{}.{} has no RMS norm", dnnl::version()->major,
                         dnnl::version()->minor, dnnl::version()->patch);
    default: return "";
  }
}

dnnl::primitive_desc_base describe(const OpCall& call, const dnnl::engine& engine) {
  switch (call.op) {
    case Op::add:
    case Op::mul:
      return dnnl::binary::primitive_desc({algorithm_of(call.op), desc_of(call.inputs[0]),
                                           desc_of(call.inputs[1]), desc_of(call.out)},
                                          engine);
    case Op::matmul:
      return dnnl::matmul::primitive_desc(
          {desc_of(call.inputs[0]), desc_of(call.inputs[1]), desc_of(call.out)}, engine);
    case Op::sum:
    case Op::mean:
      return dnnl::reduction::primitive_desc(
          {algorithm_of(call.op), desc_of(call.inputs[0]), desc_of(call.out), 0.0f, 0.0f}, engine);
    case Op::softmax:
      return dnnl::softmax_forward::primitive_desc(
          {dnnl::prop_kind::forward_inference, desc_of(call.inputs[0]), 1}, engine);
    case Op::layernorm: return describe_layernorm(call, engine);
    case Op::transpose:
    case Op::reshape:
    case Op::slice:
      return dnnl::reorder::primitive_desc(engine, desc_of(call.inputs[0]), engine,
                                           desc_of(call.out));
    default: return describe_eltwise(call, engine);
  }
}

OnednnPrimitive compile(const OpCall& call, const dnnl::engine& engine) {
  const auto description = describe(call, engine);
  OnednnPrimitive compiled{
      .primitive = dnnl::primitive(description.get()),
      .kernel = fmt::format("onednn/{}/{}", name_of(call.op), description.impl_info_str()),
      .arguments = {},
      .input_ids = input_ids(call.op)};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    compiled.arguments.emplace(compiled.input_ids[i],
                               dnnl::memory(desc_of(call.inputs[i]), engine, nullptr));
  }
  compiled.arguments.emplace(DNNL_ARG_DST, dnnl::memory(desc_of(call.out), engine, nullptr));
  return compiled;
}

}  // namespace trilobite
