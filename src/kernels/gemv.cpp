#include "kernels/gemv.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemv.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Adds kRows rows of b, scaled by x, to `columns` running sums (a multiple of kLanes).
template <size_t kRows, typename T>
HWY_INLINE void add_rows(const float* x, const T* b, ptrdiff_t row_stride, size_t columns,
                         float* sums) {
  for (size_t i = 0; i < columns; i += kLanes) {
    auto sum = load(sums + i);
    HWY_UNROLL(8)
    for (size_t row = 0; row < kRows; ++row) {
      const T* from = b + static_cast<ptrdiff_t>(row) * row_stride + i;
      sum = hn::MulAdd(hn::Set(F32(), x[row]), load(from), sum);
    }
    store(sum, sums + i);
  }
}

/// b has dense rows. Strips of columns whose sums stay in L1 (8 KB); four rows at a time, which
/// the hardware prefetchers follow as four streams.
template <typename T>
void gemv_by_rows(const GemvCall& call) {
  constexpr size_t kStrip = 2048;
  constexpr size_t kRows = 4;
  HWY_ALIGN float sums[kStrip];
  const T* b = static_cast<const T*>(call.b);
  T* out = static_cast<T*>(call.out);
  for (size_t first = 0; first < call.n; first += kStrip) {
    const size_t columns = std::min(kStrip, call.n - first);
    const size_t whole = columns / kLanes * kLanes;
    std::fill(sums, sums + kStrip, 0.0f);
    size_t k = 0;
    for (; k + kRows <= call.k; k += kRows) {
      const T* from = b + static_cast<ptrdiff_t>(k) * call.row_stride + first;
      add_rows<kRows>(call.x + k, from, call.row_stride, whole, sums);
    }
    for (; k < call.k; ++k) {
      const T* from = b + static_cast<ptrdiff_t>(k) * call.row_stride + first;
      add_rows<1>(call.x + k, from, call.row_stride, whole, sums);
    }
    if (whole < columns) {
      const size_t rest = columns - whole;
      auto sum = hn::Zero(F32());
      for (size_t row = 0; row < call.k; ++row) {
        const T* from = b + static_cast<ptrdiff_t>(row) * call.row_stride + first + whole;
        sum = hn::MulAdd(hn::Set(F32(), call.x[row]), load_some(from, rest), sum);
      }
      store_some(sum, out + first + whole, rest);
    }
    for (size_t i = 0; i < whole; i += kLanes) store(load(sums + i), out + first + i);
  }
}

/// b has dense columns: a dot product for each.
template <typename T>
void gemv_by_columns(const GemvCall& call) {
  const F32 d;
  T* out = static_cast<T*>(call.out);
  for (size_t n = 0; n < call.n; ++n) {
    const T* column =
        static_cast<const T*>(call.b) + static_cast<ptrdiff_t>(n) * call.column_stride;
    VF32 sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    size_t k = 0;
    for (; k + 4 * kLanes <= call.k; k += 4 * kLanes) {
      HWY_UNROLL(4)
      for (size_t v = 0; v < 4; ++v) {
        const size_t at = k + v * kLanes;
        sums[v] = hn::MulAdd(load(call.x + at), load(column + at), sums[v]);
      }
    }
    for (; k + kLanes <= call.k; k += kLanes) {
      sums[0] = hn::MulAdd(load(call.x + k), load(column + k), sums[0]);
    }
    if (k < call.k) {
      const size_t rest = call.k - k;
      sums[1] = hn::MulAdd(load_some(call.x + k, rest), load_some(column + k, rest), sums[1]);
    }
    const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    store_some(hn::SumOfLanes(d, sum), out + n, 1);
  }
}

struct GemvBody {
  const GemvCall& call;
  template <typename T>
  void run() const {
    if (call.column_stride == 1) return gemv_by_rows<T>(call);
    gemv_by_columns<T>(call);
  }
};

void gemv_for_target(const GemvCall& call) { with_float_type(call.dtype, GemvBody{call}); }

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(gemv_for_target);

void gemv(const GemvCall& call) { HWY_DYNAMIC_DISPATCH(gemv_for_target)(call); }

}  // namespace trilobite::kernels
#endif
