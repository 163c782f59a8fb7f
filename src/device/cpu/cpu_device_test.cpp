#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.hpp"
#include "device/device_list.hpp"
#include "kernels/isa.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) {
  auto device = open_cpu_device(options);
  EXPECT_TRUE(device);
  return *std::move(device);
}

Tensor normal_tensor(const Shape& shape, uint64_t seed) {
  auto tensor = *Tensor::create(shape, DType::f32);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    store_from_float(tensor.view(), i, normal_at(seed, 0, static_cast<uint64_t>(i)));
  }
  return tensor;
}

/// One call of `op` on normal inputs, as bits.
std::vector<std::byte> result_of(Device& device, Op op, const std::vector<Shape>& shapes) {
  std::vector<Tensor> inputs;
  OpCall call{.op = op};
  for (const auto& shape : shapes) {
    inputs.push_back(normal_tensor(shape, inputs.size() + 1));
    call.inputs.push_back(std::as_const(inputs.back()).view());
  }
  auto out = *Tensor::create(*output_shape(call), DType::f32);
  call.out = out.view();
  EXPECT_TRUE(check_call(call));
  EXPECT_TRUE(device.run(call));
  const auto* bytes = out.view().bytes();
  return {bytes, bytes + out.size_bytes()};
}

TEST(CpuDevice, counts_the_kernels_that_ran_with_their_instruction_set) {
  auto device = open_cpu({.threads = 1, .isa = "scalar"});
  result_of(*device, Op::add, {Shape{5}, Shape{5}});
  result_of(*device, Op::matmul, {Shape{5, 6}, Shape{6, 7}});
  result_of(*device, Op::matmul, {Shape{1, 6}, Shape{6, 7}});
  const KernelCounts expected{
      {"add_f32/scalar", 1}, {"gemm_f32/scalar", 1}, {"gemv_f32/scalar", 1}};
  EXPECT_EQ(device->take_kernel_counts(), expected);
  EXPECT_THAT(device->description(), HasSubstr("scalar"));
}

TEST(CpuDevice, two_devices_keep_their_own_instruction_sets) {
  auto scalar = open_cpu({.threads = 1, .isa = "scalar"});
  const std::string best(kernels::available_isas().front());
  auto fast = open_cpu({.threads = 1, .isa = best});
  result_of(*scalar, Op::relu, {Shape{5}});
  EXPECT_EQ(kernels::current_isa(), "scalar");
  result_of(*fast, Op::relu, {Shape{5}});
  EXPECT_EQ(kernels::current_isa(), best);
}

TEST(CpuDevice, unknown_instruction_set_is_an_error) {
  const auto device = open_cpu_device({.threads = 1, .isa = "mmx"});
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message(), HasSubstr("available: "));
}

TEST(CpuDevice, results_do_not_depend_on_the_number_of_threads) {
  auto one = open_cpu({.threads = 1, .isa = {}, .deterministic = true});
  auto three = open_cpu({.threads = 3, .isa = {}, .deterministic = true});
  for (const auto op : {Op::sum, Op::mean, Op::softmax, Op::gelu_erf, Op::transpose}) {
    const std::vector<Shape> shapes{Shape{301, 333}};
    EXPECT_EQ(result_of(*one, op, shapes), result_of(*three, op, shapes)) << name_of(op);
  }
  const std::vector<Shape> product{Shape{130, 200}, Shape{200, 150}};
  EXPECT_EQ(result_of(*one, Op::matmul, product), result_of(*three, Op::matmul, product));
}

TEST(CpuDevice, deterministic_products_use_our_own_kernel_whatever_their_size) {
  auto device = open_cpu({.threads = 1, .isa = {}, .deterministic = true});
  result_of(*device, Op::matmul, {Shape{260, 260}, Shape{260, 260}});
  ASSERT_EQ(device->take_kernel_counts().count("gemm_f32/" + std::string(kernels::current_isa())),
            1);
}

TEST(CpuDevice, a_measured_product_is_computed_and_counted_once) {
  auto device = open_cpu({});
  auto fixed = open_cpu({.threads = 1, .isa = {}, .deterministic = true});
  const std::vector<Shape> shapes{Shape{2, 260, 260}, Shape{260, 260}};
  const auto chosen = result_of(*device, Op::matmul, shapes);
  const auto own = result_of(*fixed, Op::matmul, shapes);
  uint64_t calls = 0;
  for (const auto& [kernel, count] : device->take_kernel_counts()) calls += count;
  EXPECT_EQ(calls, 1);
  for (size_t i = 0; i < own.size(); i += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, chosen.data() + i, sizeof(a));
    std::memcpy(&b, own.data() + i, sizeof(b));
    ASSERT_NEAR(a, b, 1e-3f);
  }
}

}  // namespace
}  // namespace trilobite
