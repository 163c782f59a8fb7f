#include "kernels/gemm.hpp"

#include <algorithm>
#include <atomic>

#include "kernels/convert.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gemm_tile.hpp"
#include "kernels/gemv.hpp"
#include "kernels/isa.hpp"

namespace trilobite::kernels {
namespace {

// Below this many multiplications a second thread costs more than it saves: waking it and waiting
// for it takes 2 to 5 us, in which one AVX2 core does about 2^17 of them.
constexpr size_t kParallelProducts = size_t{1} << 18;

constexpr size_t kPageElements = 1024;

// Each element of A is used once per panel of B. With few panels it is cheaper to read A where it
// lies than to pack it first (64^3: 66 -> 84 GFLOPS on one AVX2 core).
constexpr size_t kFewPanels = 16;

// What the caches are taken to be where the kernel does not say.
constexpr size_t kUnknownL1 = 32 << 10;
constexpr size_t kUnknownL2 = 256 << 10;
constexpr size_t kUnknownL3 = 4 << 20;

size_t known(size_t bytes, size_t otherwise) { return bytes != 0 ? bytes : otherwise; }
size_t divide_up(size_t count, size_t by) { return (count + by - 1) / by; }
size_t round_up(size_t count, size_t to) { return divide_up(count, to) * to; }
size_t round_down(size_t count, size_t to) { return std::max(to, count / to * to); }

/// Pieces of at most `most` that are as equal as multiples of `unit` can be.
size_t even_piece(size_t count, size_t most, size_t unit) {
  return round_up(divide_up(count, divide_up(count, most)), unit);
}

/// How many elements of each dimension are worked on at a time.
struct Blocking {
  size_t depth;    // of the packed panels
  size_t rows;     // of packed A, all of them
  size_t columns;  // of packed B, all of them
  size_t task_rows;
};

// depth: one panel of B stays in L1 while panels of A stream past it: half of L1 for B.
// task_rows: the block of A that is used for panel after panel of B stays in L2: half of L2.
// columns: packed B is shared by all threads and stays in L3: half of it. rows: packed A likewise,
// a quarter. Pieces are made equal, so that no loop ends with a thin one.
Blocking choose_blocking(const GemmCall& call, const CpuInfo& cpu) {
  const GemmTile tile = gemm_tile();
  const size_t l1 = known(cpu.cache_bytes(1), kUnknownL1);
  const size_t l2 = known(cpu.cache_bytes(2), kUnknownL2);
  const size_t l3 = std::max(known(cpu.cache_bytes(3), kUnknownL3), l2);
  Blocking blocking{};
  blocking.depth = even_piece(call.k, round_down(l1 / 2 / (tile.columns * sizeof(float)), 8), 8);
  const size_t line_bytes = blocking.depth * sizeof(float);
  blocking.rows = even_piece(call.m, round_down(l3 / 4 / line_bytes, tile.rows), tile.rows);
  blocking.columns =
      even_piece(call.n, round_down(l3 / 2 / line_bytes, tile.columns), tile.columns);
  blocking.task_rows = round_down(l2 / 2 / line_bytes, tile.rows);
  return blocking;
}

Result<void> grow(AlignedBuffer& buffer, size_t floats) {
  if (buffer.size() >= floats * sizeof(float)) return {};
  auto larger = AlignedBuffer::allocate(floats * sizeof(float));
  if (!larger) return fail_from(larger, "matrix product");
  buffer = *std::move(larger);
  return {};
}

GemmCall transposed(const GemmCall& call) {
  const auto flip = [](const StridedMatrix& m) {
    return StridedMatrix{m.data, m.column_stride, m.row_stride};
  };
  return {.a_dtype = call.b_dtype,
          .b_dtype = call.a_dtype,
          .out_dtype = call.out_dtype,
          .m = call.n,
          .n = call.m,
          .k = call.k,
          .a = flip(call.b),
          .b = flip(call.a),
          .out = call.out};
}

const void* element(DType dtype, const StridedMatrix& matrix, size_t row, size_t column) {
  const ptrdiff_t offset = static_cast<ptrdiff_t>(row) * matrix.row_stride +
                           static_cast<ptrdiff_t>(column) * matrix.column_stride;
  return static_cast<const std::byte*>(matrix.data) +
         offset * static_cast<ptrdiff_t>(size_of(dtype));
}

struct Part {
  size_t row, rows;
  size_t column, columns;
};

/// Fetches a part of B, whose columns are dense.
void fetch_columns(const GemmCall& call, const Part& part) {
  constexpr size_t kCacheLine = 64;
  for (size_t i = 0; i < part.columns; ++i) {
    const auto* from =
        static_cast<const std::byte*>(element(call.b_dtype, call.b, part.row, part.column + i));
    for (size_t at = 0; at < part.rows * size_of(call.b_dtype); at += kCacheLine)
      kFetchesIntoL1 ? __builtin_prefetch(from + at, 0, 3) : __builtin_prefetch(from + at, 0, 2);
  }
}

bool can_use_in_place(const GemmCall& call) {
  const GemmTile tile = gemm_tile();
  return call.a_dtype == DType::f32 && call.a.column_stride == 1 && call.a.row_stride > 0 &&
         call.m >= tile.rows && call.n <= kFewPanels * tile.columns;
}

}  // namespace

/// The part of the product that is packed at one time.
struct Gemm::Block {
  size_t row, rows;
  size_t column, columns;
  size_t depth_begin, depth;
  size_t task_rows;
};

/// Dynamic: a thread that the machine delays gets fewer tasks.
template <typename Task>
void Gemm::for_tasks(size_t count, Task&& task) {
  if (!parallel_ || count == 1) {
    for (size_t i = 0; i < count; ++i) task(i);
    return;
  }
  std::atomic<size_t> next{0};
  pool_.run([&](unsigned) {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) task(i);
  });
}

Result<void> Gemm::reserve(const GemmCall& call, const Block& largest) {
  const GemmTile tile = gemm_tile();
  Result<void> grown;
  if (!a_in_place_) grown = grow(packed_a_, round_up(largest.rows, tile.rows) * largest.depth);
  const size_t columns =
      panel_by_panel_ ? pool_.threads() * tile.columns : round_up(largest.columns, tile.columns);
  if (grown) grown = grow(packed_b_, columns * largest.depth);
  if (grown && call.out_dtype != DType::f32) grown = grow(sums_, call.m * call.n);
  return grown;
}

void Gemm::pack_a(const GemmCall& call, const Block& block, size_t first, size_t lines) {
  pack_panels({.dtype = call.a_dtype,
               .from = element(call.a_dtype, call.a, block.row + first, block.depth_begin),
               .line_stride = call.a.row_stride,
               .depth_stride = call.a.column_stride,
               .lines = lines,
               .depth = block.depth,
               .width = gemm_tile().rows,
               .packed = packed_a_.as<float>().data() + first * block.depth});
}

void Gemm::pack_b(const GemmCall& call, const Block& block, size_t first, size_t lines,
                  float* packed) {
  pack_panels({.dtype = call.b_dtype,
               .from = element(call.b_dtype, call.b, block.depth_begin, block.column + first),
               .line_stride = call.b.column_stride,
               .depth_stride = call.b.row_stride,
               .lines = lines,
               .depth = block.depth,
               .width = gemm_tile().columns,
               .packed = packed});
}

/// Threads pack panels of A and B together.
void Gemm::pack(const GemmCall& call, const Block& block) {
  const GemmTile tile = gemm_tile();
  // 8 panels a task: some 100 KB, a few tens of microseconds.
  const size_t a_lines = 8 * tile.rows;
  const size_t b_lines = 8 * tile.columns;
  const size_t a_tasks = a_in_place_ ? 0 : divide_up(block.rows, a_lines);
  const size_t b_tasks = panel_by_panel_ ? 0 : divide_up(block.columns, b_lines);
  for_tasks(a_tasks + b_tasks, [&](size_t task) {
    if (task < a_tasks) {
      const size_t first = task * a_lines;
      return pack_a(call, block, first, std::min(a_lines, block.rows - first));
    }
    const size_t first = (task - a_tasks) * b_lines;
    pack_b(call, block, first, std::min(b_lines, block.columns - first),
           packed_b_.as<float>().data() + first * block.depth);
  });
}

/// Few rows use each panel of B once. So a thread packs one, has the next one fetched from memory,
/// and multiplies all rows while the panel is in the first-level cache.
void Gemm::multiply_panel_by_panel(const GemmCall& call, const Block& block, float* sums) {
  constexpr size_t kPanelsOfTask = 4;
  const size_t width = gemm_tile().columns;
  std::atomic<size_t> next{0};
  const auto columns_at = [&](size_t column) { return std::min(width, block.columns - column); };
  const auto multiply_one = [&](size_t column, float* panel) {
    pack_b(call, block, column, columns_at(column), panel);
    if (const size_t next_one = column + width; next_one < block.columns) {
      fetch_columns(call, {.row = block.depth_begin,
                           .rows = block.depth,
                           .column = block.column + next_one,
                           .columns = columns_at(next_one)});
    }
    multiply_panels({.a = packed_a_.as<float>().data(),
                     .a_stride = 0,
                     .b = panel,
                     .depth = block.depth,
                     .rows = block.rows,
                     .columns = columns_at(column),
                     .c = sums + block.row * call.n + block.column + column,
                     .c_stride = call.n,
                     .accumulate = block.depth_begin != 0});
  };
  const auto work = [&](unsigned thread) {
    float* panel = packed_b_.as<float>().data() + thread * width * block.depth;
    const size_t step = kPanelsOfTask * width;
    for (size_t first = next.fetch_add(step); first < block.columns; first = next.fetch_add(step)) {
      const size_t last = std::min(block.columns, first + step);
      for (size_t column = first; column < last; column += width) multiply_one(column, panel);
    }
  };
  if (parallel_) return pool_.run(work);
  work(0);
}

/// Threads take blocks of rows, cut into column ranges where there are too few of them.
void Gemm::multiply(const GemmCall& call, const Block& block, float* sums) {
  const GemmTile tile = gemm_tile();
  // As many row blocks as threads or a multiple: 9 equal tasks on 2 threads would take as long as
  // 10. Column ranges on top, so that a delayed thread can be relieved.
  const size_t threads = parallel_ ? pool_.threads() : 1;
  const size_t wanted_tasks = parallel_ ? 4 * threads : 1;
  const size_t row_blocks = round_up(divide_up(block.rows, block.task_rows), threads);
  const size_t task_rows = round_up(divide_up(block.rows, row_blocks), tile.rows);
  const size_t row_tasks = divide_up(block.rows, task_rows);
  const size_t least_columns = 4 * tile.columns;
  const size_t task_columns = std::max(
      least_columns,
      even_piece(block.columns, divide_up(block.columns, divide_up(wanted_tasks, row_tasks)),
                 tile.columns));
  const size_t column_tasks = divide_up(block.columns, task_columns);
  for_tasks(row_tasks * column_tasks, [&](size_t task) {
    const size_t row = task / column_tasks * task_rows;
    const size_t column = task % column_tasks * task_columns;
    const void* a_rows = element(call.a_dtype, call.a, block.row + row, block.depth_begin);
    multiply_panels({.a = a_in_place_ ? static_cast<const float*>(a_rows)
                                      : packed_a_.as<float>().data() + row * block.depth,
                     .a_stride = a_in_place_ ? static_cast<size_t>(call.a.row_stride) : 0,
                     .b = packed_b_.as<float>().data() + column * block.depth,
                     .depth = block.depth,
                     .rows = std::min(task_rows, block.rows - row),
                     .columns = std::min(task_columns, block.columns - column),
                     .c = sums + (block.row + row) * call.n + block.column + column,
                     .c_stride = call.n,
                     .accumulate = block.depth_begin != 0});
  });
}

void Gemm::round_sums(const GemmCall& call) {
  constexpr size_t kStep = 16384;
  const size_t count = call.m * call.n;
  for_tasks(divide_up(count, kStep), [&](size_t task) {
    const size_t first = task * kStep;
    from_f32({.dtype = call.out_dtype,
              .from = sums_.as<float>().data() + first,
              .to = static_cast<std::byte*>(call.out) + first * size_of(call.out_dtype),
              .count = std::min(kStep, count - first)});
  });
}

/// A single row times b, which has dense rows or columns.
Result<void> Gemm::multiply_row(const GemmCall& call) {
  last_kernel_ = "gemv";
  if (auto grown = grow(packed_a_, call.k); !grown) return grown;
  float* x = packed_a_.as<float>().data();
  pack_panels({.dtype = call.a_dtype,
               .from = call.a.data,
               .line_stride = call.a.row_stride,
               .depth_stride = call.a.column_stride,
               .lines = 1,
               .depth = call.k,
               .width = 1,
               .packed = x});
  // Columns of a task: at least a page of b, and no two tasks write to one cache line.
  const size_t columns =
      parallel_ ? round_up(divide_up(call.n, 4 * pool_.threads()), kPageElements) : call.n;
  for_tasks(divide_up(call.n, columns), [&](size_t task) {
    const size_t first = task * columns;
    gemv({.dtype = call.b_dtype,
          .x = x,
          .b = element(call.b_dtype, call.b, 0, first),
          .row_stride = call.b.row_stride,
          .column_stride = call.b.column_stride,
          .k = call.k,
          .n = std::min(columns, call.n - first),
          .out = static_cast<std::byte*>(call.out) + first * size_of(call.out_dtype)});
  });
  return {};
}

Result<void> Gemm::run(const GemmCall& call) {
  if (call.m == 0 || call.n == 0) return {};
  if (call.k == 0) {
    fill({.dtype = call.out_dtype, .value = 0.0f, .out = call.out, .count = call.m * call.n});
    return {};
  }
  parallel_ = call.m * call.n * call.k >= kParallelProducts && pool_.threads() > 1;
  // gemv writes what it reads.
  const auto fits_gemv = [&](const StridedMatrix& matrix, DType dtype) {
    return dtype == call.out_dtype && (matrix.row_stride == 1 || matrix.column_stride == 1);
  };
  if (call.m == 1 && fits_gemv(call.b, call.b_dtype)) return multiply_row(call);
  // A column is a row of the transposed product, and lies the same way in memory.
  if (call.n == 1 && fits_gemv(call.a, call.a_dtype)) return multiply_row(transposed(call));
  return multiply_packed(call);
}

Result<void> Gemm::multiply_packed(const GemmCall& call) {
  last_kernel_ = "gemm";
  a_in_place_ = can_use_in_place(call);
  const Blocking blocking = choose_blocking(call, cpu_);
  panel_by_panel_ =
      !a_in_place_ && call.b.row_stride == 1 && call.m <= blocking.task_rows &&
      call.n * blocking.depth * sizeof(float) > known(cpu_.cache_bytes(2), kUnknownL2);
  Block block{.row = 0,
              .rows = blocking.rows,
              .column = 0,
              .columns = blocking.columns,
              .depth_begin = 0,
              .depth = blocking.depth,
              .task_rows = blocking.task_rows};
  if (auto reserved = reserve(call, block); !reserved) return reserved;
  float* sums =
      call.out_dtype == DType::f32 ? static_cast<float*>(call.out) : sums_.as<float>().data();
  for (block.column = 0; block.column < call.n; block.column += blocking.columns) {
    block.columns = std::min(blocking.columns, call.n - block.column);
    for (block.row = 0; block.row < call.m; block.row += blocking.rows) {
      block.rows = std::min(blocking.rows, call.m - block.row);
      for (block.depth_begin = 0; block.depth_begin < call.k; block.depth_begin += blocking.depth) {
        block.depth = std::min(blocking.depth, call.k - block.depth_begin);
        pack(call, block);
        if (panel_by_panel_) {
          multiply_panel_by_panel(call, block, sums);
        } else {
          multiply(call, block, sums);
        }
      }
    }
  }
  if (call.out_dtype != DType::f32) round_sums(call);
  return {};
}

}  // namespace trilobite::kernels
