#include "tensor/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trilobite {
namespace {

template <typename T>
T saturated(float value) {
  if (std::isnan(value)) return 0;
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(std::nearbyint(static_cast<double>(value)), kLow, kHigh));
}

}  // namespace

Result<Tensor> Tensor::create(const Shape& shape, DType dtype, Allocator& allocator) {
  auto buffer = allocator.allocate(static_cast<size_t>(shape.elements()) * size_of(dtype));
  if (!buffer)
    return fail_from(buffer, fmt::format("a {} tensor of {}", shape.to_string(), name_of(dtype)));
  return Tensor(*std::move(buffer), shape, dtype, allocator);
}

Tensor::~Tensor() {
  if (allocator_ != nullptr) allocator_->release(std::move(buffer_));
}

Tensor::Tensor(Tensor&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      shape_(other.shape_),
      dtype_(other.dtype_),
      allocator_(std::exchange(other.allocator_, nullptr)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(shape_, other.shape_);
  std::swap(dtype_, other.dtype_);
  std::swap(allocator_, other.allocator_);
  return *this;
}

float load_as_float(ConstTensorView view, int64_t offset) {
  switch (view.dtype()) {
    case DType::f32: return view.data<float>()[offset];
    case DType::f16: return view.data<Float16>()[offset].to_float();
    case DType::bf16: return view.data<BFloat16>()[offset].to_float();
    case DType::i8: return static_cast<float>(view.data<int8_t>()[offset]);
    case DType::i32: return static_cast<float>(view.data<int32_t>()[offset]);
    case DType::u8: return static_cast<float>(view.data<uint8_t>()[offset]);
  }
  return std::numeric_limits<float>::quiet_NaN();
}

void store_from_float(TensorView view, int64_t offset, float value) {
  switch (view.dtype()) {
    case DType::f32: view.data<float>()[offset] = value; return;
    case DType::f16: view.data<Float16>()[offset] = Float16::from(value); return;
    case DType::bf16: view.data<BFloat16>()[offset] = BFloat16::from(value); return;
    case DType::i8: view.data<int8_t>()[offset] = saturated<int8_t>(value); return;
    case DType::i32: view.data<int32_t>()[offset] = saturated<int32_t>(value); return;
    case DType::u8: view.data<uint8_t>()[offset] = saturated<uint8_t>(value); return;
  }
}

}  // namespace trilobite
