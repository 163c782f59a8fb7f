#include "model/batch_attention.hpp"

#include <algorithm>
#include <cmath>

namespace trilobite::model {
namespace {

using kernels::kMaxQueryRows;

// Runs of at most so many tokens share their keys out between threads; longer ones their tokens.
constexpr size_t kFewTokens = 4;
// Keys of a part: large enough that merging costs nothing, small enough that 2 threads share the
// keys of 5 heads evenly.
constexpr size_t kSplitKeys = 256;

size_t divide_up(size_t count, size_t by) { return (count + by - 1) / by; }

}  // namespace

Result<BatchAttention> BatchAttention::create(const AttentionShape& shape, const Limits& limits) {
  BatchAttention attention;
  attention.shape_ = shape;
  attention.group_ = shape.heads / shape.kv_heads;
  const size_t head_parts = divide_up(attention.group_, kMaxQueryRows / kFewTokens);
  const size_t split_units =
      limits.sequences * shape.kv_heads * head_parts * divide_up(limits.positions, kSplitKeys);
  const size_t tile_units = shape.kv_heads * head_parts * (limits.tokens + limits.sequences);
  attention.units_.reserve(std::max(split_units, tile_units));
  auto states = AlignedBuffer::allocate(split_units * attention.state_floats() * sizeof(float));
  if (!states) return fail_from(states, "attention");
  attention.states_ = *std::move(states);
  states = AlignedBuffer::allocate(limits.threads * attention.state_floats() * sizeof(float));
  if (!states) return fail_from(states, "attention");
  attention.thread_states_ = *std::move(states);
  return attention;
}

kernels::AttentionState BatchAttention::state_at(AlignedBuffer& states, size_t index) {
  float* at = states.as<float>().data() + index * state_floats();
  return {at, at + kMaxQueryRows, at + 2 * kMaxQueryRows};
}

void BatchAttention::plan_run(size_t index, const TokenRun& run, Unit unit) {
  unit.run = index;
  const size_t keys = shape_.is_causal ? run.position + run.tokens : run.tokens;
  const bool few = run.tokens <= kFewTokens;
  const size_t step = few ? run.tokens : kMaxQueryRows / unit.heads;
  for (size_t token = 0; token < run.tokens; token += step) {
    unit.first_token = token;
    unit.tokens = std::min(step, run.tokens - token);
    const size_t seen = shape_.is_causal ? run.position + token + unit.tokens : keys;
    unit.splits = few ? divide_up(seen, kSplitKeys) : 1;
    work_ += seen * unit.tokens * unit.heads * shape_.head_size;
    for (size_t split = 0; split < unit.splits; ++split) {
      unit.first_key = split * kSplitKeys;
      unit.last_key = unit.splits == 1 ? seen : std::min(seen, unit.first_key + kSplitKeys);
      if (unit.splits > 1) unit.state = split_units_++;
      units_.push_back(unit);
    }
  }
}

void BatchAttention::plan(std::span<const TokenRun> runs) {
  units_.clear();
  split_units_ = 0;
  work_ = 0;
  for (size_t index = 0; index < runs.size(); ++index) {
    const size_t most_heads =
        runs[index].tokens <= kFewTokens ? kMaxQueryRows / kFewTokens : kMaxQueryRows;
    for (size_t kv_head = 0; kv_head < shape_.kv_heads; ++kv_head) {
      for (size_t head = 0; head < group_; head += most_heads) {
        plan_run(
            index, runs[index],
            {.kv_head = kv_head, .first_head = head, .heads = std::min(most_heads, group_ - head)});
      }
    }
  }
}

void BatchAttention::write_row(const Unit& unit, const TokenRun& run, size_t row,
                               const kernels::MergeCall& state, float* out) const {
  const size_t token = run.first_row + unit.first_token + row / unit.heads;
  const size_t head = unit.kv_head * group_ + unit.first_head + row % unit.heads;
  kernels::MergeCall call = state;
  call.out = out + (token * shape_.heads + head) * shape_.head_size;
  kernels::merge(call);
}

void BatchAttention::compute_unit(const Unit& unit, const TokenRun& run, Queries queries,
                                  const kernels::KvHead& kv, unsigned thread, float* out) {
  const bool whole = unit.splits == 1;
  const auto state = whole ? state_at(thread_states_, thread) : state_at(states_, unit.state);
  const size_t size = shape_.head_size;
  const size_t rows = unit.tokens * unit.heads;
  const size_t first_head = unit.kv_head * group_ + unit.first_head;
  kernels::clear(state, rows, size);
  kernels::attend(
      {.q = queries.q + (run.first_row + unit.first_token) * queries.stride + first_head * size,
       .token_stride = queries.stride,
       .tokens = unit.tokens,
       .heads = unit.heads,
       .head_size = size,
       .scale = 1.0f / std::sqrt(static_cast<float>(size)),
       .visible = shape_.is_causal ? run.position + unit.first_token + 1 : run.tokens,
       .causal = shape_.is_causal},
      kv, unit.first_key, unit.last_key, state);
  if (!whole) return;
  for (size_t row = 0; row < rows; ++row) {
    write_row(unit, run, row,
              {.first = {state.largest + row, state.sums + row, state.values + row * size},
               .count = 1,
               .head_size = size},
              out);
  }
}

void BatchAttention::merge_split_units(std::span<const TokenRun> runs, float* out) {
  for (size_t i = 0; i < units_.size(); i += units_[i].splits) {
    const Unit& unit = units_[i];
    if (unit.splits == 1) continue;
    const auto state = state_at(states_, unit.state);
    for (size_t row = 0; row < unit.tokens * unit.heads; ++row) {
      write_row(
          unit, runs[unit.run], row,
          {.first = {state.largest + row, state.sums + row, state.values + row * shape_.head_size},
           .stride = state_floats(),
           .value_stride = state_floats(),
           .count = unit.splits,
           .head_size = shape_.head_size},
          out);
    }
  }
}

}  // namespace trilobite::model
