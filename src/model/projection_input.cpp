#include "model/projection_input.hpp"

#include <atomic>

#include "kernels/absmax.hpp"
#include "kernels/group_absmax.hpp"
#include "quant/bitnet.hpp"

namespace trilobite::model {
namespace {

size_t groups_of(size_t columns) {
  return (columns + quant::kGroupColumns - 1) / quant::kGroupColumns;
}

/// A token's codes start on a cache line and reach to the end of the last block of any packing.
size_t stride_for(size_t columns) {
  return kernels::activation_stride(columns + quant::kGroupColumns);
}

Result<void> allocate(AlignedBuffer& to, size_t bytes) {
  auto buffer = AlignedBuffer::allocate(bytes);
  if (!buffer) return fail_from(buffer);
  to = *std::move(buffer);
  return {};
}

/// Calls task(token) for every token; true when all of them are.
template <typename Task>
bool for_tokens(ThreadPool& pool, size_t tokens, Task&& task) {
  std::atomic<bool> all{true};
  pool.for_range(tokens, 8, [&](size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
      if (!task(t)) all = false;
    }
  });
  return all;
}

std::unexpected<Error> not_finite() {
  return fail("an activation is NaN or infinite; the model's weights may be damaged");
}

}  // namespace

size_t ProjectionInput::code_stride() const { return stride_for(columns_); }

Result<ProjectionInput> ProjectionInput::create(size_t tokens, size_t columns) {
  ProjectionInput input;
  input.max_tokens_ = tokens;
  input.max_columns_ = columns;
  const size_t codes = tokens * stride_for(columns);
  const size_t groups = tokens * groups_of(columns);
  Result<void> done = allocate(input.row_codes_, codes);
  if (done) done = allocate(input.row_scales_, tokens * sizeof(float));
  if (done) done = allocate(input.row_sums_, tokens * sizeof(int32_t));
  if (done) done = allocate(input.group_codes_, codes);
  if (done) done = allocate(input.group_scales_, groups * sizeof(float));
  if (done) done = allocate(input.group_sums_, groups * sizeof(int32_t));
  if (done) done = allocate(input.group_half_sums_, groups * sizeof(int32_t));
  if (!done) return fail_from(done);
  return input;
}

size_t ProjectionInput::bytes() const {
  return row_codes_.size() + row_scales_.size() + row_sums_.size() + group_codes_.size() +
         group_scales_.size() + group_sums_.size() + group_half_sums_.size();
}

void ProjectionInput::set(const float* x, size_t tokens, size_t columns) {
  TRILOBITE_CHECK(tokens <= max_tokens_ && columns <= max_columns_);
  x_ = x;
  tokens_ = tokens;
  columns_ = columns;
  has_rows_ = false;
  has_groups_ = false;
}

Result<void> ProjectionInput::make_rows(ThreadPool& pool) {
  if (has_rows_) return {};
  const size_t stride = code_stride();
  auto* codes = row_codes_.as<int8_t>().data();
  auto* scales = row_scales_.as<float>().data();
  auto* sums = row_sums_.as<int32_t>().data();
  has_rows_ = for_tokens(pool, tokens_, [&](size_t t) {
    const auto result = kernels::quantize_absmax({.x = x_ + t * columns_,
                                                  .columns = columns_,
                                                  .padded_columns = stride,
                                                  .epsilon = quant::kBitnetEpsilon,
                                                  .codes = codes + t * stride});
    scales[t] = result.scale;
    sums[t] = result.sum;
    return result.is_finite;
  });
  return has_rows_ ? Result<void>() : not_finite();
}

kernels::Int8Rows ProjectionInput::rows() const {
  TRILOBITE_CHECK(has_rows_);
  return {row_codes_.as<int8_t>().data(), code_stride(), tokens_, row_scales_.as<float>().data(),
          row_sums_.as<int32_t>().data()};
}

Result<void> ProjectionInput::make_groups(ThreadPool& pool) {
  if (has_groups_) return {};
  const size_t stride = code_stride();
  const size_t groups = groups_of(columns_);
  auto* codes = group_codes_.as<int8_t>().data();
  auto* scales = group_scales_.as<float>().data();
  auto* sums = group_sums_.as<int32_t>().data();
  auto* half_sums = group_half_sums_.as<int32_t>().data();
  has_groups_ = for_tokens(pool, tokens_, [&](size_t t) {
    return kernels::quantize_absmax_groups({.x = x_ + t * columns_,
                                            .columns = columns_,
                                            .codes = codes + t * stride,
                                            .scales = scales + t * groups,
                                            .sums = sums + t * groups,
                                            .half_sums = half_sums + t * groups});
  });
  return has_groups_ ? Result<void>() : not_finite();
}

kernels::Int8Groups ProjectionInput::groups() const {
  TRILOBITE_CHECK(has_groups_);
  return {group_codes_.as<int8_t>().data(),
          code_stride(),
          tokens_,
          group_scales_.as<float>().data(),
          group_sums_.as<int32_t>().data(),
          group_half_sums_.as<int32_t>().data()};
}

}  // namespace trilobite::model
