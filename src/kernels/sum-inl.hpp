// Sums of f32 terms for one Highway target: included once per target.

#if defined(TRILOBITE_KERNELS_SUM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_SUM_INL_HPP
#undef TRILOBITE_KERNELS_SUM_INL_HPP
#else
#define TRILOBITE_KERNELS_SUM_INL_HPP
#endif

#include "kernels/float_io-inl.hpp"
#include "kernels/reduce.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Sum of at most kSumBlock terms, begin to end; terms.full(i) gives a vector of them from i on,
/// terms.some(i, n) only n, and zeros. Always 64 running sums, then halves added pairwise: the
/// order, and so the bits, are the same on every instruction set. Each running sum has at most 64
/// terms, so |error| <= 70 * 2^-24 sum |term|.
template <class Terms>
HWY_INLINE float sum_block(const Terms& terms, size_t begin, size_t end) {
  constexpr size_t kRunning = 64;
  constexpr size_t kVectors = kRunning / kLanes;
  VF32 sums[kVectors];
  HWY_UNROLL(16)
  for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(F32());
  size_t i = begin;
  for (; i + kRunning <= end; i += kRunning) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], terms.full(i + v * kLanes));
  }
  size_t v = 0;
  for (; i + kLanes <= end; i += kLanes, ++v) sums[v] = hn::Add(sums[v], terms.full(i));
  if (i < end) sums[v] = hn::Add(sums[v], terms.some(i, end - i));
  for (size_t half = kVectors / 2; half > 0; half /= 2) {
    for (size_t w = 0; w < half; ++w) sums[w] = hn::Add(sums[w], sums[w + half]);
  }
  float lanes[kLanes];
  store(sums[0], lanes);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

/// Any number of terms: blocks in f32, their sums in double.
template <class Terms>
HWY_INLINE double sum_all(const Terms& terms, size_t count) {
  double sum = 0;
  for (size_t begin = 0; begin < count; begin += kSumBlock) {
    sum += static_cast<double>(sum_block(terms, begin, std::min(count, begin + kSumBlock)));
  }
  return sum;
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
