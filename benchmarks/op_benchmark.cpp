#include "op_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "base/rng.hpp"
#include "device/device_list.hpp"
#include "device/op_check.hpp"
#include "tensor/tensor.hpp"

namespace trilobite::benchmarks {

Result<Device*> shared_device(const Bench& p) {
  static std::map<std::string, std::unique_ptr<Device>> devices;
  const auto key = fmt::format("{}/{}/{}/{}", p.device(), p.threads(), p.isa(), p.deterministic());
  if (auto found = devices.find(key); found != devices.end()) return found->second.get();
  auto device = open_device(
      p.device(), {.threads = p.threads(), .isa = p.isa(), .deterministic = p.deterministic()});
  if (!device) return fail_from(device);
  return (devices[key] = *std::move(device)).get();
}

void fill_uniform(TensorView view, uint64_t seed, uint64_t stream) {
  const int64_t count = view.elements();
  for (int64_t i = 0; i < count; i += 4) {
    const auto block = philox(seed, stream, static_cast<uint64_t>(i / 4));
    for (int64_t j = 0; j < std::min<int64_t>(4, count - i); ++j) {
      const auto unit = static_cast<float>(block[static_cast<size_t>(j)] >> 8) * 0x1p-23f - 1.0f;
      store_from_float(view, i + j, unit);
    }
  }
}

namespace {

/// An input of the asked-for shape, with memory that gives it the asked-for layout.
struct Input {
  Tensor memory;
  ConstTensorView view;
};

Shape with_extents(const Shape& shape, size_t dim, int64_t extent) {
  std::vector<int64_t> extents(shape.extents().begin(), shape.extents().end());
  extents[dim] = extent;
  return Shape::from(extents).value();
}

Result<Input> make_input(const Shape& shape, DType dtype, Layout layout, uint64_t stream,
                         uint64_t seed) {
  const size_t rank = shape.rank();
  const bool transposed = layout == Layout::transposed && rank >= 2;
  const bool strided = layout == Layout::strided && rank >= 1;
  Shape stored = shape;
  if (transposed) {
    stored =
        with_extents(with_extents(shape, rank - 1, shape[rank - 2]), rank - 2, shape[rank - 1]);
  } else if (strided) {
    stored = with_extents(shape, rank - 1, 2 * shape[rank - 1]);
  }
  auto memory = Tensor::create(stored, dtype);
  if (!memory) return fail_from(memory);
  fill_uniform(memory->view(), seed, stream);
  ConstTensorView view = memory->view();
  if (transposed) view = view.transpose(rank - 2, rank - 1);
  if (strided) view = view.slice(rank - 1, 0, shape[rank - 1]);
  return Input{*std::move(memory), view};
}

/// The shapes of the inputs of `op` when the benchmark's shape is `shape`.
Result<std::vector<Shape>> input_shapes(Op op, const Shape& shape) {
  const size_t rank = shape.rank();
  switch (op) {
    case Op::zeros:
    case Op::ones:
    case Op::randn: return std::vector<Shape>();
    case Op::add:
    case Op::mul: return std::vector<Shape>{shape, shape};
    case Op::matmul:
      if (rank == 2) return std::vector<Shape>{shape, {shape[1], shape[0]}};
      if (rank == 3) return std::vector<Shape>{{shape[0], shape[1]}, {shape[1], shape[2]}};
      if (rank == 4)
        return std::vector<Shape>{{shape[0], shape[1], shape[2]}, {shape[0], shape[2], shape[3]}};
      return fail(
          fmt::format("a matmul needs a shape MxK, MxKxN or BxMxKxN, not {}", shape.to_string()));
    case Op::rmsnorm: return std::vector<Shape>{shape, {shape[rank - 1]}};
    case Op::layernorm: return std::vector<Shape>{shape, {shape[rank - 1]}, {shape[rank - 1]}};
    default: return std::vector<Shape>{shape};
  }
}

/// What `out` gets where the shapes of the inputs do not say it.
Shape free_output_shape(Op op, const Shape& shape) {
  if (op == Op::reshape) return {shape.elements()};
  return shape;
}

struct PreparedCall {
  std::vector<Input> inputs;
  Tensor output;
  OpCall call;
};

Layout layout_from(const std::string& name) {
  if (name == "transposed") return Layout::transposed;
  return name == "strided" ? Layout::strided : Layout::dense;
}

Result<PreparedCall> prepare(const Bench& p, Op op) {
  const auto dtype = dtype_from_name(p.dtype());
  if (!dtype) return fail(fmt::format("unknown element type '{}'", p.dtype()));
  const auto shape = Shape::parse(p.shape());
  if (!shape) return fail_from(shape);
  const auto shapes = input_shapes(op, *shape);
  if (!shapes) return fail_from(shapes);
  OpCall call{.op = op, .seed = p.seed()};
  if (op == Op::slice) {
    // The middle half of each row.
    const int64_t extent = (*shape)[shape->rank() - 1];
    call.begin = extent / 4;
    call.end = call.begin + (extent + 1) / 2;
  }
  std::vector<Input> inputs;
  for (size_t i = 0; i < shapes->size(); ++i) {
    auto input = make_input((*shapes)[i], *dtype, layout_from(p.text("layout")), i, p.seed());
    if (!input) return fail_from(input);
    inputs.push_back(*std::move(input));
    call.inputs.push_back(inputs.back().view);
  }
  call.out = TensorView(nullptr, *dtype, free_output_shape(op, *shape));
  const auto out_shape = output_shape(call);
  if (!out_shape) return fail_from(out_shape);
  auto output = Tensor::create(*out_shape, *dtype);
  if (!output) return fail_from(output);
  call.out = output->view();
  if (auto right = check_call(call); !right) return fail_from(right);
  return PreparedCall{std::move(inputs), *std::move(output), std::move(call)};
}

void merge_into(Verification& total, const OpCheck& check, const OpExpectation& expected) {
  total.passed = total.passed && check.passed;
  total.max_error = std::max(total.max_error, check.max_error);
  total.cosine = std::min(total.cosine, check.cosine);
  for (const float tolerance : expected.tolerance) {
    total.tolerance = std::max(total.tolerance, static_cast<double>(tolerance));
  }
}

Result<void> verify_call(const OpCall& call, Verification& verification) {
  const auto expected = expectation_of(call);
  if (!expected) return fail_from(expected);
  merge_into(verification, check_output(call, *expected), *expected);
  return {};
}

/// The same product for rows [begin, end) only.
OpCall rows_of(const OpCall& call, int64_t begin, int64_t end) {
  OpCall part = call;
  const size_t dim = call.out.shape().rank() - 2;
  part.inputs[0] = call.inputs[0].slice(dim, begin, end);
  part.out = call.out.slice(dim, begin, end);
  return part;
}

// The reference computes about 10^9 operations a second: whole products up to this many are
// checked.
constexpr double kWholeCheckFlops = 3e8;

/// Everything, except for large products: there the first, the middle and the last rows, 4 of each.
/// (The tests of the devices compare whole products.)
Result<Verification> verify_output(const OpCall& call) {
  Verification verification(true);
  verification.reference = "reference device";
  const bool in_parts = call.op == Op::matmul && call.out.shape().rank() == 2 &&
                        cost_of(call).flops > kWholeCheckFlops;
  if (!in_parts) {
    if (auto done = verify_call(call, verification); !done) return fail_from(done);
    return verification;
  }
  const int64_t rows = call.out.shape()[0];
  const int64_t count = std::min<int64_t>(4, rows);
  for (const int64_t begin : {int64_t{0}, (rows - count) / 2, rows - count}) {
    if (auto done = verify_call(rows_of(call, begin, begin + count), verification); !done)
      return fail_from(done);
  }
  return verification;
}

Work work_of(const OpCall& call) {
  const auto cost = cost_of(call);
  return {.elements = static_cast<double>(call.out.elements()),
          .bytes_read = cost.bytes_read,
          .bytes_written = cost.bytes_written,
          .flops = cost.flops,
          .compute = call.op == Op::matmul && call.out.dtype() == DType::bf16 ? "bf16" : "f32"};
}

}  // namespace

void run_op(Bench& p, Op op) {
  const auto device = shared_device(p);
  if (!device) {
    return device.error().kind() == ErrorKind::environment ? p.skip(device.error().message())
                                                           : p.fail(device.error().message());
  }
  const auto dtype = dtype_from_name(p.dtype());
  if (!dtype) return p.fail(fmt::format("unknown element type '{}'", p.dtype()));
  if (const auto reason = (*device)->why_unsupported(op, *dtype); !reason.empty())
    return p.skip(reason);
  auto prepared = prepare(p, op);
  if (!prepared) return p.fail(prepared.error().message());
  const OpCall& call = prepared->call;
  p.work(work_of(call));
  const auto compute = [&] {
    const auto done = (*device)->run(call);
    (*device)->synchronize();
    return done.has_value();
  };
  if (!compute()) return p.fail((*device)->run(call).error().message());
  p.verify([&] { return verify_output(call).value_or(Verification(false)); });
  (*device)->take_kernel_counts();
  p.measure(compute);
  p.kernels((*device)->take_kernel_counts());
}

std::vector<Case> op_cases(const std::vector<std::string>& dtypes,
                           const std::vector<std::string>& shapes,
                           const std::vector<std::string>& devices) {
  return over(axis("dtype", dtypes), axis("shape", shapes), axis("device", devices));
}

std::vector<std::string> cpu_device_names() {
  return {"reference", "cpu", "openblas", "onednn", "eigen"};
}

std::vector<DeviceLine> describe_devices(const DeviceOptions& options) {
  std::vector<DeviceLine> lines;
  for (const auto& entry : all_devices()) {
    DeviceLine line{.name = std::string(entry.name), .what = std::string(entry.what)};
    line.description = entry.why_unavailable();
    if (line.description.empty()) {
      const auto device = entry.open(options);
      line.usable = device.has_value();
      line.description = device ? (*device)->description() : device.error().message();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace trilobite::benchmarks
