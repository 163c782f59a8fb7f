#include "kernels/attention.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Keys whose scores are held at a time: 32 rows of them fill a quarter of L1.
inline constexpr size_t kPieceKeys = kKvBlock;
inline constexpr size_t kMicroRows = 4;
inline constexpr size_t kMicroKeys = 2;
inline constexpr float kNoScore = -std::numeric_limits<float>::infinity();

/// A piece of at most kPieceKeys keys, from `first` on.
template <typename T>
struct Piece {
  const T* keys;
  const T* values;
  const T* next_keys;
  size_t stride;
  const float* key_scales;
  const float* value_scales;
  size_t first;
  size_t count;
};

using Scores = float[kMaxQueryRows][kPieceKeys];

/// The sums over the lanes of four vectors, with half the work of four sums.
HWY_INLINE void sum_four(const VF32* sums, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 4; ++i) to[i] = hn::GetLane(sums[i]);
#else
  const F32 d;
  const hn::Repartition<uint64_t, F32> pairs;
  const auto halves = [&](VF32 a, VF32 b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  const auto ab = hn::BitCast(pairs, halves(sums[0], sums[1]));
  const auto cd = hn::BitCast(pairs, halves(sums[2], sums[3]));
  // Each block of four lanes holds its part of all four sums.
  HWY_ALIGN float blocks[kLanes];
  hn::Store(hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, ab, cd)),
                    hn::BitCast(d, hn::InterleaveUpper(pairs, ab, cd))),
            d, blocks);
  for (size_t i = 0; i < 4; ++i) {
    to[i] = blocks[i];
    for (size_t block = 4; block < kLanes; block += 4) to[i] += blocks[block + i];
  }
#endif
}

/// scores[key] = q . k for kRows rows and kKeys keys.
template <size_t kRows, size_t kKeys, typename T>
HWY_INLINE void dot_rows(const float* const* q, const T* keys, size_t stride, size_t size,
                         float* const* scores) {
  const F32 d;
  VF32 sums[kRows][kKeys];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    VF32 k[kKeys];
    for (size_t j = 0; j < kKeys; ++j) k[j] = load(keys + j * stride + i);
    HWY_UNROLL(4)
    for (size_t r = 0; r < kRows; ++r) {
      const auto row = load(q[r] + i);
      for (size_t j = 0; j < kKeys; ++j) sums[r][j] = hn::MulAdd(row, k[j], sums[r][j]);
    }
  }
  if (i < size) {
    const size_t rest = size - i;
    for (size_t r = 0; r < kRows; ++r) {
      const auto row = load_some(q[r] + i, rest);
      for (size_t j = 0; j < kKeys; ++j)
        sums[r][j] = hn::MulAdd(row, load_some(keys + j * stride + i, rest), sums[r][j]);
    }
  }
  if constexpr (kRows == 4) {
    for (size_t j = 0; j < kKeys; ++j) {
      const VF32 of_key[4] = {sums[0][j], sums[1][j], sums[2][j], sums[3][j]};
      float totals[4];
      sum_four(of_key, totals);
      for (size_t r = 0; r < kRows; ++r) scores[r][j] = totals[r];
    }
  } else {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t j = 0; j < kKeys; ++j) scores[r][j] = hn::GetLane(hn::SumOfLanes(d, sums[r][j]));
    }
  }
}

/// Fetches what comes after these keys: their values, and the keys of the next piece. Values are
/// read in columns, which no hardware prefetcher follows.
template <size_t kKeys, typename T>
HWY_INLINE void fetch_ahead(const Piece<T>& piece, size_t key, size_t size) {
  constexpr size_t kLine = 64 / sizeof(T);
  for (size_t j = key; j < key + kKeys; ++j) {
    for (size_t i = 0; i < size; i += kLine) {
      __builtin_prefetch(piece.values + j * piece.stride + i);
      __builtin_prefetch(piece.next_keys + j * piece.stride + i);
    }
  }
}

template <size_t kRows, typename T>
HWY_INLINE void score_rows(const QueryRows& queries, const Piece<T>& piece, size_t row,
                           Scores& scores) {
  const float* q[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    q[r] = queries.q + (row + r) / queries.heads * queries.token_stride +
           (row + r) % queries.heads * queries.head_size;
  }
  float* to[kRows];
  size_t key = 0;
  const auto aim = [&] HWY_ATTR {
    for (size_t r = 0; r < kRows; ++r) to[r] = scores[row + r] + key;
    return piece.keys + key * piece.stride;
  };
  for (; key + kMicroKeys <= piece.count; key += kMicroKeys) {
    if (row == 0) fetch_ahead<kMicroKeys>(piece, key, queries.head_size);
    const T* keys = aim();
    dot_rows<kRows, kMicroKeys>(q, keys, piece.stride, queries.head_size, to);
  }
  for (; key < piece.count; ++key) {
    const T* keys = aim();
    dot_rows<kRows, 1>(q, keys, piece.stride, queries.head_size, to);
  }
}

/// Scores become weights exp(score - largest); the state's sum and largest are brought up to date.
/// Returns what the values gathered so far must be multiplied with.
template <typename T>
HWY_INLINE float weigh(const QueryRows& queries, const Piece<T>& piece, size_t row, float* scores,
                       const AttentionState& state) {
  const F32 d;
  const size_t limit = queries.keys_of(row);
  const size_t seen = limit > piece.first ? std::min(piece.count, limit - piece.first) : 0;
  for (size_t j = 0; j < seen; ++j) {
    scores[j] *= queries.scale;
    if (piece.key_scales != nullptr) scores[j] *= piece.key_scales[j];
  }
  std::fill(scores + seen, scores + kPieceKeys, kNoScore);
  if (seen == 0) {
    std::fill(scores, scores + kPieceKeys, 0.0f);
    return 1.0f;
  }
  auto top = load(scores);
  for (size_t j = kLanes; j < kPieceKeys; j += kLanes) top = hn::Max(top, load(scores + j));
  const float largest = std::max(state.largest[row], hn::GetLane(hn::MaxOfLanes(d, top)));
  const auto shift = hn::Set(d, largest);
  auto sum = hn::Zero(d);
  for (size_t j = 0; j < kPieceKeys; j += kLanes) {
    const auto weight = exp_f32(hn::Sub(load(scores + j), shift));
    sum = hn::Add(sum, weight);
    store(weight, scores + j);
  }
  const float shrink = std::exp(state.largest[row] - largest);
  state.sums[row] = state.sums[row] * shrink + hn::GetLane(hn::SumOfLanes(d, sum));
  state.largest[row] = largest;
  if (piece.value_scales != nullptr) {
    for (size_t j = 0; j < seen; ++j) scores[j] *= piece.value_scales[j];
  }
  return shrink;
}

/// values[row] = values[row] * shrink[row] + weights . v, for kRows rows and kVectors vectors of
/// columns.
template <size_t kRows, size_t kVectors, typename T>
HWY_INLINE void add_values(const Piece<T>& piece, const T* values, const Scores& weights,
                           size_t row, const float* shrink, float* const* to) {
  const F32 d;
  VF32 sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v)
      sums[r][v] = hn::Mul(load(to[r] + v * kLanes), hn::Set(d, shrink[r]));
  }
  for (size_t j = 0; j < piece.count; ++j) {
    VF32 value[kVectors];
    for (size_t v = 0; v < kVectors; ++v) value[v] = load(values + j * piece.stride + v * kLanes);
    HWY_UNROLL(4)
    for (size_t r = 0; r < kRows; ++r) {
      const auto weight = hn::Set(d, weights[row + r][j]);
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(weight, value[v], sums[r][v]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) store(sums[r][v], to[r] + v * kLanes);
  }
}

template <size_t kRows, typename T>
HWY_INLINE void gather_rows(const QueryRows& queries, const Piece<T>& piece, const Scores& weights,
                            size_t row, const float* shrink, const AttentionState& state) {
  const size_t size = queries.head_size;
  float* to[kRows];
  const auto aim = [&](size_t column) HWY_ATTR {
    for (size_t r = 0; r < kRows; ++r) to[r] = state.values + (row + r) * size + column;
  };
  size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    aim(i);
    add_values<kRows, 2>(piece, piece.values + i, weights, row, shrink, to);
  }
  for (; i + kLanes <= size; i += kLanes) {
    aim(i);
    add_values<kRows, 1>(piece, piece.values + i, weights, row, shrink, to);
  }
  for (; i < size; ++i) {
    for (size_t r = 0; r < kRows; ++r) {
      float& sum = state.values[(row + r) * size + i];
      sum *= shrink[r];
      for (size_t j = 0; j < piece.count; ++j) {
        const T& value = piece.values[j * piece.stride + i];
        sum += weights[row + r][j] * hn::GetLane(load_some(&value, 1));
      }
    }
  }
}

/// Calls body(row, constant number of rows) so that all rows are covered.
template <class Body>
HWY_INLINE void for_rows(size_t rows, Body&& body) {
  size_t row = 0;
  for (; row + kMicroRows <= rows; row += kMicroRows)
    body(row, std::integral_constant<size_t, kMicroRows>());
  for (; row < rows; ++row) body(row, std::integral_constant<size_t, 1>());
}

template <typename T>
void attend_piece(const QueryRows& queries, const Piece<T>& piece, const AttentionState& state) {
  HWY_ALIGN Scores scores;
  float shrink[kMaxQueryRows];
  const size_t rows = queries.rows();
  for_rows(rows, [&]<size_t kRows>(size_t row, std::integral_constant<size_t, kRows>)
                     HWY_ATTR { score_rows<kRows>(queries, piece, row, scores); });
  for (size_t row = 0; row < rows; ++row)
    shrink[row] = weigh(queries, piece, row, scores[row], state);
  for_rows(rows, [&]<size_t kRows>(size_t row, std::integral_constant<size_t, kRows>) HWY_ATTR {
    gather_rows<kRows>(queries, piece, scores, row, shrink + row, state);
  });
}

template <typename T>
void attend_as(const QueryRows& queries, const KvHead& kv, size_t first, size_t last,
               const AttentionState& state) {
  for (size_t key = first; key < last; key += kPieceKeys) {
    const size_t row = row_of_position(key, kv.block_rows);
    const T* keys = static_cast<const T*>(kv.keys) + row * kv.stride;
    const auto scales = [&](const float* from) { return from == nullptr ? from : from + row; };
    attend_piece<T>(queries,
                    {.keys = keys,
                     .values = static_cast<const T*>(kv.values) + row * kv.stride,
                     .next_keys = keys + kv.block_rows * kv.stride,
                     .stride = kv.stride,
                     .key_scales = scales(kv.key_scales),
                     .value_scales = scales(kv.value_scales),
                     .first = key,
                     .count = std::min(kPieceKeys, last - key)},
                    state);
  }
}

void attend_for_target(const QueryRows& queries, const KvHead& kv, size_t first, size_t last,
                       const AttentionState& state) {
  switch (kv.type) {
    case KvType::f32: return attend_as<float>(queries, kv, first, last, state);
    case KvType::f16: return attend_as<Float16>(queries, kv, first, last, state);
    case KvType::int8: return attend_as<int8_t>(queries, kv, first, last, state);
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(attend_for_target);

size_t bytes_of(KvType type) { return type == KvType::f32 ? 4 : type == KvType::f16 ? 2 : 1; }

std::string_view name_of(KvType type) {
  return type == KvType::f32 ? "f32" : type == KvType::f16 ? "f16" : "int8";
}

void clear(const AttentionState& state, size_t rows, size_t head_size) {
  std::fill_n(state.largest, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sums, rows, 0.0f);
  std::fill_n(state.values, rows * head_size, 0.0f);
}

void attend(const QueryRows& queries, const KvHead& kv, size_t first, size_t last,
            const AttentionState& state) {
  HWY_DYNAMIC_DISPATCH(attend_for_target)(queries, kv, first, last, state);
}

void merge(const MergeCall& call) {
  float largest = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < call.count; ++i)
    largest = std::max(largest, call.first.largest[i * call.stride]);
  std::fill_n(call.out, call.head_size, 0.0f);
  float sum = 0;
  for (size_t i = 0; i < call.count; ++i) {
    if (call.first.sums[i * call.stride] == 0.0f) continue;
    const float weight = std::exp(call.first.largest[i * call.stride] - largest);
    sum += weight * call.first.sums[i * call.stride];
    const float* values = call.first.values + i * call.value_stride;
    for (size_t c = 0; c < call.head_size; ++c) call.out[c] += weight * values[c];
  }
  for (size_t c = 0; c < call.head_size; ++c) call.out[c] /= sum;
}

}  // namespace trilobite::kernels
#endif
