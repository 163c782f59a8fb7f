#pragma once
// Attention of some query rows over the keys and values of one head, a stretch of keys at a time,
// with a running softmax (Milakov & Gimelshein 2018; Dao et al., "FlashAttention", 2022).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trilobite::kernels {

/// How keys and values are kept.
enum class KvType : uint8_t {
  f32,
  f16,
  int8,  // code * scale, a scale for each position of each head
};
size_t bytes_of(KvType type);
std::string_view name_of(KvType type);

/// Positions that lie one after the other; what comes after them may be elsewhere.
inline constexpr size_t kKvBlock = 64;
constexpr size_t row_of_position(size_t position, size_t block_rows) {
  return position / kKvBlock * block_rows + position % kKvBlock;
}

/// Keys and values of one head. Borrowed.
struct KvHead {
  KvType type;
  const void* keys;                     // [rows][stride]
  const void* values;                   // [rows][stride]
  size_t stride;                        // elements from row to row
  size_t block_rows = kKvBlock;         // from the first row of a block to that of the next
  const float* key_scales = nullptr;    // [rows], int8 only
  const float* value_scales = nullptr;  // [rows], int8 only
};

/// Query rows that share one head of keys: some heads of some tokens. Row t * heads + h.
struct QueryRows {
  const float* q;       // [tokens][heads][head_size], the heads side by side
  size_t token_stride;  // in elements
  size_t tokens;
  size_t heads;
  size_t head_size;
  float scale;     // scores are multiplied by it, usually 1 / sqrt(head_size)
  size_t visible;  // keys that token 0 sees
  bool causal;     // token t sees t more

  size_t rows() const { return tokens * heads; }
  size_t keys_of(size_t row) const { return causal ? visible + row / heads : visible; }
};
inline constexpr size_t kMaxQueryRows = 32;

/// The running softmax of each row: its largest score, the sum of exp(score - largest), and that
/// sum weighted with the values.
struct AttentionState {
  float* largest;  // [rows]
  float* sums;     // [rows]
  float* values;   // [rows][head_size]
};
void clear(const AttentionState& state, size_t rows, size_t head_size);

/// Adds keys [first, last) to the state of at most kMaxQueryRows rows; `first` begins a block. Keys
/// are taken in the same order and pieces whatever the threads, so the result depends on the calls
/// alone.
void attend(const QueryRows& queries, const KvHead& kv, size_t first, size_t last,
            const AttentionState& state);

/// out[head_size] = the weighted mean that `count` states of one row amount to, each over its own
/// keys. States follow each other at the strides; a state that saw no key is left out.
struct MergeCall {
  AttentionState first;
  size_t stride;        // of largest and sums
  size_t value_stride;  // of values
  size_t count;
  size_t head_size;
  float* out;
};
void merge(const MergeCall& call);

}  // namespace trilobite::kernels
