#pragma once
// What the kernel tests share: every instruction set, awkward sizes, and arrays of each type with
// their values in double.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "kernels/isa.hpp"
#include "tensor/dtype.hpp"

namespace trilobite::kernels {

inline constexpr DType kFloatTypes[] = {DType::f32, DType::f16, DType::bf16};

/// Around the lanes of every instruction set (1, 4, 8, 16) and of unrolled loops, and a large one.
inline const std::vector<size_t>& awkward_sizes() {
  static const std::vector<size_t> sizes{0,  1,  3,  4,  5,  7,  8,   9,    15,   16,   17,
                                         31, 32, 33, 63, 64, 65, 127, 1001, 4095, 4097, 20011};
  return sizes;
}

/// Relative rounding error of one store.
inline double unit_roundoff(DType dtype) {
  return dtype == DType::f32 ? 0x1p-24 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
}

/// Elements of one type, `skew` elements off alignment when asked.
class TypedArray {
 public:
  TypedArray(DType dtype, size_t count, size_t skew = 0)
      : dtype_(dtype), count_(count), skew_(skew), memory_((count + skew) * size_of(dtype) + 1) {}
  static TypedArray from(DType dtype, const std::vector<float>& values) {
    TypedArray array(dtype, values.size());
    for (size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
    return array;
  }
  static TypedArray normal(DType dtype, size_t count, uint64_t seed, size_t skew = 0) {
    TypedArray array(dtype, count, skew);
    for (size_t i = 0; i < count; ++i) array.set(i, normal_at(seed, 0, i));
    return array;
  }

  size_t size() const { return count_; }
  std::byte* data() { return memory_.data() + skew_ * size_of(dtype_); }
  const std::byte* data() const { return memory_.data() + skew_ * size_of(dtype_); }

  void set(size_t i, float value) {
    if (dtype_ == DType::f32) return put(i, value);
    if (dtype_ == DType::f16) return put(i, Float16::from(value));
    put(i, BFloat16::from(value));
  }
  double operator[](size_t i) const {
    if (dtype_ == DType::f32) return static_cast<double>(get<float>(i));
    if (dtype_ == DType::f16) return static_cast<double>(get<Float16>(i).to_float());
    return static_cast<double>(get<BFloat16>(i).to_float());
  }
  bool same_bits(const TypedArray& other) const {
    return std::memcmp(data(), other.data(), count_ * size_of(dtype_)) == 0;
  }

 private:
  template <typename T>
  void put(size_t i, T value) {
    std::memcpy(data() + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  T get(size_t i) const {
    T value;
    std::memcpy(&value, data() + i * sizeof(T), sizeof(T));
    return value;
  }

  DType dtype_;
  size_t count_;
  size_t skew_;
  std::vector<std::byte> memory_;
};

/// One test per instruction set of this machine; restores the best one afterwards.
class EveryIsa : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { ASSERT_TRUE(set_isa(GetParam())); }
  void TearDown() override { ASSERT_TRUE(set_isa("")); }
};

#define TRILOBITE_FOR_EVERY_ISA(suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Isa, suite, testing::ValuesIn(available_isas()), \
                           [](const auto& isa) { return std::string(isa.param); })

}  // namespace trilobite::kernels
