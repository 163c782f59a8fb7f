#include "device/onednn/onednn_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "device/dense_input.hpp"
#include "device/matrix_view.hpp"
#include "device/onednn/onednn_isa.hpp"
#include "device/onednn/onednn_primitives.hpp"
#include "device/onednn/onednn_threads.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

/// Everything that a compiled primitive depends on.
using Key = std::vector<int64_t>;

/// A sweep over many shapes must not fill the memory: then all are forgotten and made again.
constexpr size_t kMaxPrimitives = 1024;

std::string version_text() {
  const auto* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

Key key_of(const OpCall& call) {
  Key key{static_cast<int64_t>(call.op), std::bit_cast<int32_t>(call.beta),
          std::bit_cast<int32_t>(call.epsilon)};
  const auto append = [&](const ConstTensorView& view) {
    key.push_back(static_cast<int64_t>(view.dtype()));
    key.push_back(static_cast<int64_t>(view.shape().rank()));
    for (size_t i = 0; i < view.shape().rank(); ++i) {
      key.push_back(view.shape()[i]);
      key.push_back(view.strides()[i]);
    }
  };
  for (const auto& input : call.inputs) append(input);
  append(call.out);
  return key;
}

template <typename View>
View flattened(const View& view) {
  return {view.bytes(), view.dtype(), {view.elements()}};
}

template <typename View>
View as_rows(const View& view) {
  const int64_t width = view.shape()[view.shape().rank() - 1];
  return {view.bytes(), view.dtype(), {view.elements() / width, width}};
}

bool has_positive_strides(const ConstTensorView& view) {
  for (size_t i = 0; i < view.shape().rank(); ++i) {
    if (view.shape()[i] > 1 && view.strides()[i] <= 0) return false;
  }
  return true;
}

/// A small call of every operation in the form that `describe` takes, to ask the library with.
OpCall sample_call(Op op, DType dtype) {
  static std::array<std::byte, 256> memory{};
  const bool flat = input_count(op) > 0 && op != Op::matmul && op != Op::softmax &&
                    op != Op::layernorm && op != Op::transpose;
  const Shape shape = flat ? Shape{16} : Shape{4, 4};
  OpCall call{.op = op, .out = TensorView(memory.data(), dtype, shape)};
  call.inputs.assign(input_count(op), call.out);
  if (op == Op::sum || op == Op::mean) call.out = TensorView(memory.data(), dtype, {1});
  if (op == Op::transpose) call.inputs[0] = call.inputs[0].transpose(0, 1);
  for (size_t i = 1; op == Op::layernorm && i < 3; ++i) {
    call.inputs[i] = ConstTensorView(memory.data(), DType::f32, {4});
  }
  return call;
}

class OnednnDevice final : public Device {
 public:
  explicit OnednnDevice(unsigned threads);

  std::string_view name() const override { return "onednn"; }
  std::string description() const override;
  std::string why_unsupported(Op op, DType dtype) const override;
  Result<void> run(const OpCall& call) override;

 private:
  std::string ask_library(Op op, DType dtype) const;
  /// The call in the form that `describe` takes; copies what the primitive cannot read in place.
  Result<OpCall> prepared(const OpCall& call);
  Result<OpCall> prepared_product(const OpCall& call);
  Result<OpCall> prepared_move(const OpCall& call);
  Result<ConstTensorView> dense(const ConstTensorView& view, size_t slot);
  Result<ConstTensorView> as_f32(const ConstTensorView& view, size_t slot);
  void execute(const OpCall& prepared_call);

  unsigned threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::pair<Op, DType>, std::string> refusals_;
  std::map<Key, OnednnPrimitive> primitives_;
  std::array<AlignedBuffer, 3> scratch_;  // per input: a dense or widened copy
  std::array<DenseInput, 3> copies_;      // per input: where the library cannot even copy
};

OnednnDevice::OnednnDevice(unsigned threads) : threads_(threads) {
  set_openmp_threads(threads_);
  for (const Op op : all_ops()) {
    for (const DType dtype : op_dtypes()) refusals_[{op, dtype}] = ask_library(op, dtype);
  }
}

std::string OnednnDevice::ask_library(Op op, DType dtype) const {
  if (auto reason = why_no_primitive(op); !reason.empty()) return reason;
  try {
    describe(sample_call(op, dtype), engine_);
    return "";
  } catch (const dnnl::error&) {
    return fmt::format("{} has no {} for {} on this CPU", version_text(), name_of(op),
                       name_of(dtype));
  }
}

std::string OnednnDevice::description() const {
  return fmt::format("{}, {}, {} OpenMP thread{}", version_text(),
                     onednn_isa_text(dnnl::get_effective_cpu_isa()), threads_,
                     threads_ == 1 ? "" : "s");
}

std::string OnednnDevice::why_unsupported(Op op, DType dtype) const {
  const auto found = refusals_.find({op, dtype});
  return found == refusals_.end() ? why_undefined(op, dtype) : found->second;
}

Result<void> OnednnDevice::run(const OpCall& call) {
  if (auto supported = check_supported(call); !supported) return supported;
  if (compute_if_empty(call)) return {};
  set_openmp_threads(threads_);  // belongs to the thread, and another device may have changed it
  try {
    auto ready = prepared(call);
    if (!ready) return fail_from(ready);
    execute(*ready);
    return {};
  } catch (const dnnl::error& error) {
    return fail(fmt::format("{}: {} of {}: {}", version_text(), name_of(call.op),
                            call.out.shape().to_string(), error.message),
                ErrorKind::environment);
  }
}

void OnednnDevice::execute(const OpCall& call) {
  auto key = key_of(call);
  auto found = primitives_.find(key);
  if (found == primitives_.end()) {
    if (primitives_.size() >= kMaxPrimitives) primitives_.clear();
    found = primitives_.emplace(std::move(key), compile(call, engine_)).first;
  }
  auto& [primitive, kernel, arguments, input_ids] = found->second;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    arguments.at(input_ids[i]).set_data_handle(const_cast<std::byte*>(call.inputs[i].bytes()));
  }
  arguments.at(DNNL_ARG_DST).set_data_handle(call.out.bytes());
  count_kernel(kernel);
  primitive.execute(stream_, arguments);
  stream_.wait();
}

Result<OpCall> OnednnDevice::prepared(const OpCall& call) {
  if (call.op == Op::matmul) return prepared_product(call);
  if (call.op == Op::transpose || call.op == Op::reshape || call.op == Op::slice) {
    return prepared_move(call);
  }
  const bool rows = call.op == Op::softmax || call.op == Op::layernorm;
  OpCall ready = call;
  // The library refuses to reduce a single element, which is its own sum and mean.
  const bool reduction = call.op == Op::sum || call.op == Op::mean;
  if (reduction && call.inputs[0].elements() == 1) ready.op = Op::reshape;
  ready.out = rows ? as_rows(call.out) : flattened(call.out);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    // Scale and shift of a norm are f32 to the library, whatever the rows are.
    const bool parameter = rows && i > 0;
    auto input = parameter ? as_f32(call.inputs[i], i) : dense(call.inputs[i], i);
    if (!input) return fail_from(input);
    ready.inputs[i] = rows && !parameter ? as_rows(*input) : flattened(*input);
  }
  return ready;
}

Result<OpCall> OnednnDevice::prepared_product(const OpCall& call) {
  OpCall ready = call;
  const bool one_matrix = call.inputs[1].shape().rank() == 2;
  for (size_t i = 0; i < 2; ++i) {
    auto& input = ready.inputs[i];
    const bool stack = i == 0 && one_matrix;
    const auto merged = stack ? as_one_matrix(input) : input;
    // The fast implementations read matrices with dense rows or columns; others fall back to a
    // plain loop in the library, which is far slower than a copy.
    if (merged && matrix_layout(matrix_at(*merged, 0)) && has_positive_strides(*merged)) {
      input = *merged;
      continue;
    }
    auto copy = dense(input, i);
    if (!copy) return fail_from(copy);
    const auto whole = stack ? as_one_matrix(*copy) : *copy;
    TRILOBITE_CHECK(whole.has_value());  // a dense stack can be seen as one matrix
    input = *whole;
  }
  if (one_matrix) {
    const int64_t n = call.inputs[1].shape()[1];
    ready.out = TensorView(call.out.bytes(), call.out.dtype(), {call.out.elements() / n, n});
  }
  return ready;
}

Result<OpCall> OnednnDevice::prepared_move(const OpCall& call) {
  const auto& a = call.inputs[0];
  const size_t rank = a.shape().rank();
  OpCall ready = call;
  if (call.op == Op::transpose) ready.inputs[0] = a.transpose(rank - 2, rank - 1);
  if (call.op == Op::slice) ready.inputs[0] = a.slice(rank - 1, call.begin, call.end);
  if (!has_positive_strides(ready.inputs[0])) {
    auto copy = copies_[0].of(ready.inputs[0]);
    if (!copy) return fail_from(copy);
    ready.inputs[0] = *copy;
  }
  const bool scalar = ready.inputs[0].shape().rank() == 0;
  if (scalar) ready.inputs[0] = flattened(ready.inputs[0]);
  ready.out = TensorView(call.out.bytes(), call.out.dtype(), ready.inputs[0].shape());
  return ready;
}

Result<ConstTensorView> OnednnDevice::dense(const ConstTensorView& view, size_t slot) {
  if (view.is_contiguous()) return view;
  if (!has_positive_strides(view)) return copies_[slot].of(view);
  auto memory = grown(scratch_[slot], static_cast<size_t>(view.elements()) * size_of(view.dtype()));
  if (!memory) return fail_from(memory);
  const TensorView copy(*memory, view.dtype(), view.shape());
  execute({.op = Op::reshape, .inputs = {view}, .out = copy});
  return copy;
}

Result<ConstTensorView> OnednnDevice::as_f32(const ConstTensorView& view, size_t slot) {
  if (view.dtype() == DType::f32) return dense(view, slot);
  auto memory = grown(scratch_[slot], static_cast<size_t>(view.elements()) * sizeof(float));
  if (!memory) return fail_from(memory);
  const TensorView wide(*memory, DType::f32, view.shape());
  float* to = wide.data<float>();
  for_each_offset(view, [&](int64_t offset) { *to++ = load_as_float(view, offset); });
  return wide;
}

}  // namespace

std::string why_no_onednn() { return ""; }

Result<std::unique_ptr<Device>> open_onednn_device(const DeviceOptions& options) {
  if (auto narrowed = narrow_onednn_isa(options.isa); !narrowed) return fail_from(narrowed);
  try {
    return std::make_unique<OnednnDevice>(options.threads);
  } catch (const dnnl::error& error) {
    return fail(fmt::format("{} does not start: {}", version_text(), error.message),
                ErrorKind::environment);
  }
}

}  // namespace trilobite
