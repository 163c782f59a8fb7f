// Suite workloads: what models do, not single operations. A transformer layer made of device
// operations, for one sequence and for a batch of them, so that devices can be compared on it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "device/device_list.hpp"
#include "op_benchmark.hpp"
#include "quant/error_measures.hpp"
#include "tensor/tensor.hpp"

namespace trilobite::benchmarks {
namespace {

constexpr int64_t kHeadWidth = 64;
constexpr int64_t kFeedForward = 2048;
// One device against another after twelve operations in f32.
constexpr double kLeastCosine = 0.9999;

struct LayerSize {
  int64_t sequences, tokens, width;

  int64_t rows() const { return sequences * tokens; }
  int64_t heads() const { return width / kHeadWidth; }
};

/// The calls of one layer in order, and the memory they work on.
class Layer {
 public:
  static Result<Layer> create(LayerSize size, uint64_t seed) {
    Layer layer(size, seed);
    layer.build();
    if (layer.problem_) return std::unexpected(*layer.problem_);
    return layer;
  }

  Result<void> run(Device& device) const {
    for (const auto& call : calls_) {
      if (auto done = device.run(call); !done) return done;
    }
    device.synchronize();
    return {};
  }
  std::vector<float> output() const {
    std::vector<float> values;
    for (int64_t i = 0; i < output_.elements(); ++i) values.push_back(load_as_float(output_, i));
    return values;
  }
  OpCost cost() const {
    OpCost total;
    for (const auto& call : calls_) {
      const auto cost = cost_of(call);
      total.flops += cost.flops;
      total.bytes_read += cost.bytes_read;
      total.bytes_written += cost.bytes_written;
    }
    return total;
  }

 private:
  Layer(LayerSize size, uint64_t seed) : size_(size), seed_(seed) {}

  TensorView memory(const Shape& shape) {
    auto tensor = Tensor::create(shape, DType::f32);
    if (!tensor) {
      problem_ = tensor.error();
      return TensorView(nullptr, DType::f32, shape);
    }
    tensors_.push_back(*std::move(tensor));
    return tensors_.back().view();
  }
  /// Random, of about the size that keeps activations of a layer in bounds.
  TensorView weights(const Shape& shape) {
    const auto view = memory(shape);
    if (problem_) return view;
    fill_uniform(view, seed_, tensors_.size());
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape[0]));
    for (int64_t i = 0; i < view.elements(); ++i) {
      store_from_float(view, i, load_as_float(view, i) * scale);
    }
    return view;
  }
  TensorView apply(Op op, std::vector<ConstTensorView> inputs) {
    OpCall call{.op = op, .inputs = std::move(inputs)};
    const auto shape = output_shape(call);
    if (!shape) {
      if (!problem_) problem_ = shape.error();
      return {};
    }
    call.out = memory(*shape);
    calls_.push_back(call);
    return call.out;
  }
  TensorView project(ConstTensorView x, int64_t to) {
    return apply(Op::matmul, {x, weights({x.shape()[1], to})});
  }
  /// [rows, width] as [sequences, heads, tokens, head width], without copying.
  ConstTensorView by_heads(ConstTensorView x) const {
    const Shape shape{size_.sequences, size_.tokens, size_.heads(), kHeadWidth};
    return x.reshape(shape).value().transpose(1, 2);
  }
  TensorView attention(ConstTensorView x) {
    const auto q = project(x, size_.width);
    const auto k = project(x, size_.width);
    const auto v = project(x, size_.width);
    if (problem_) return {};
    const auto scores = apply(Op::matmul, {by_heads(q), by_heads(k).transpose(2, 3)});
    const auto shares = apply(Op::softmax, {scores});
    const auto mixed = apply(Op::matmul, {shares, by_heads(v)});
    if (problem_) return {};
    OpCall join{.op = Op::reshape, .inputs = {ConstTensorView(mixed).transpose(1, 2)}};
    join.out = memory({size_.rows(), size_.width});
    calls_.push_back(join);
    return project(join.out, size_.width);
  }
  TensorView feed_forward(ConstTensorView x) {
    const auto gate = apply(Op::silu, {project(x, kFeedForward)});
    if (problem_) return {};
    return project(apply(Op::mul, {gate, project(x, kFeedForward)}), size_.width);
  }
  void build() {
    const auto x = weights({size_.rows(), size_.width});
    const auto after_attention =
        apply(Op::add, {x, attention(apply(Op::rmsnorm, {x, weights({size_.width})}))});
    if (problem_) return;
    const auto normed = apply(Op::rmsnorm, {after_attention, weights({size_.width})});
    output_ = apply(Op::add, {after_attention, feed_forward(normed)});
  }

  LayerSize size_;
  uint64_t seed_;
  std::deque<Tensor> tensors_;
  std::vector<OpCall> calls_;
  TensorView output_;
  std::optional<Error> problem_;
};

/// The same layer on the reference device.
Verification compare_with_reference(LayerSize size, uint64_t seed, const Layer& layer) {
  Verification verification(false);
  verification.reference = "reference device";
  const auto reference = open_device("reference", {});
  const auto expected = Layer::create(size, seed);
  if (!reference || !expected || !expected->run(**reference)) return verification;
  quant::ErrorSums sums;
  sums.add(expected->output(), layer.output());
  const auto measures = sums.measures();
  verification.cosine = measures.cosine;
  verification.max_error = measures.max_abs_error;
  verification.passed = measures.cosine >= kLeastCosine;
  return verification;
}

void run_layer(Bench& p) {
  const auto shape = Shape::parse(p.shape());
  if (!shape) return p.fail(shape.error().message());
  const LayerSize size{(*shape)[0], (*shape)[1], (*shape)[2]};
  const auto device = shared_device(p);
  if (!device) return p.skip(device.error().message());
  const auto layer = Layer::create(size, p.seed());
  if (!layer) return p.fail(layer.error().message());
  if (const auto done = layer->run(**device); !done) return p.skip(done.error().message());
  const auto cost = layer->cost();
  p.work({.elements = static_cast<double>(size.rows() * size.width),
          .bytes_read = cost.bytes_read,
          .bytes_written = cost.bytes_written,
          .tokens = static_cast<double>(size.rows()),
          .flops = cost.flops});
  p.verify([&] { return compare_with_reference(size, p.seed(), *layer); });
  p.measure([&] { return layer->run(**device).has_value(); });
}

/// Shapes are sequences x tokens x width.
bool register_suite() {
  register_benchmark({.suite = "workloads",
                      .operation = "transformer_layer",
                      .cases =
                          [] {
                            return op_cases({"f32"}, {"1x1x768", "1x32x768", "1x128x768"},
                                            cpu_device_names());
                          },
                      .body = run_layer});
  register_benchmark({.suite = "workloads",
                      .operation = "batch_processing",
                      .cases =
                          [] {
                            return op_cases({"f32"}, {"2x32x768", "4x32x768", "8x32x768"},
                                            cpu_device_names());
                          },
                      .body = run_layer});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
