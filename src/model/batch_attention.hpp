#pragma once
// Attention of a batch of tokens of several sequences over their keys and values, on threads. The
// work is cut in the same way whatever their number, so it never changes the result.

#include <cstddef>
#include <span>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/attention.hpp"

namespace trilobite::model {

/// Neighbouring rows of a batch that are neighbouring tokens of one sequence.
struct TokenRun {
  size_t sequence;
  size_t first_row;
  size_t tokens;
  size_t position;  // of the first token
};

struct AttentionShape {
  size_t heads;
  size_t kv_heads;
  size_t head_size;
  bool is_causal;  // a token sees itself and what came before; otherwise all tokens of its run
};

class BatchAttention {
 public:
  struct Limits {
    size_t tokens;     // of a batch
    size_t sequences;  // of a batch
    size_t positions;  // of a sequence
    unsigned threads;
  };
  /// Takes all its memory at once.
  static Result<BatchAttention> create(const AttentionShape& shape, const Limits& limits);

  /// Queries [rows][heads][head_size], rows `stride` elements apart; out likewise but dense.
  struct Queries {
    const float* q;
    size_t stride;
  };
  /// kv(run, kv_head) gives the keys and values of a run's sequence, the run's own included.
  template <typename KvOf>
  void run(std::span<const TokenRun> runs, Queries queries, KvOf&& kv, ThreadPool& pool,
           float* out) {
    plan(runs);
    const auto compute = [&](const Unit& unit, unsigned thread) {
      const TokenRun& run = runs[unit.run];
      compute_unit(unit, run, queries, kv(run, unit.kv_head), thread, out);
    };
    for_units(pool, compute);
    merge_split_units(runs, out);
  }

  size_t bytes() const { return states_.size() + thread_states_.size(); }

 private:
  /// A part of the work that one thread does: some rows over some keys.
  struct Unit {
    size_t run;
    size_t kv_head;
    size_t first_head;  // within those that share the keys
    size_t heads;
    size_t first_token;  // within the run
    size_t tokens;
    size_t first_key;
    size_t last_key;
    size_t state;   // where its state is kept until the parts are merged
    size_t splits;  // parts that its keys are split into; 1: nothing is left to merge
  };

  BatchAttention() = default;
  void plan(std::span<const TokenRun> runs);
  void plan_run(size_t index, const TokenRun& run, Unit unit);
  void compute_unit(const Unit& unit, const TokenRun& run, Queries queries,
                    const kernels::KvHead& kv, unsigned thread, float* out);
  void merge_split_units(std::span<const TokenRun> runs, float* out);
  void write_row(const Unit& unit, const TokenRun& run, size_t row, const kernels::MergeCall& state,
                 float* out) const;
  kernels::AttentionState state_at(AlignedBuffer& states, size_t index);
  size_t state_floats() const { return kernels::kMaxQueryRows * (shape_.head_size + 2); }

  template <typename Compute>
  void for_units(ThreadPool& pool, Compute&& compute);

  AttentionShape shape_{};
  size_t group_ = 1;  // query heads that share keys
  std::vector<Unit> units_;
  size_t split_units_ = 0;
  size_t work_ = 0;              // multiplications of the planned units, about
  AlignedBuffer states_;         // of split units
  AlignedBuffer thread_states_;  // of the others, one for each thread
};

}  // namespace trilobite::model

#include "model/batch_attention-inl.hpp"
