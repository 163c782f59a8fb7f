#include "device/op_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "base/rng.hpp"

namespace trilobite {
namespace {

constexpr int64_t kGuardElements = 64;  // behind the output
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Layout { dense, transposed, sliced, spread, repeated, backward };
constexpr std::array kLayouts{Layout::dense,  Layout::transposed, Layout::sliced,
                              Layout::spread, Layout::repeated,   Layout::backward};
constexpr std::array<std::string_view, 6> kLayoutNames{"dense",  "transposed", "sliced",
                                                       "spread", "repeated",   "backward"};

enum class Content { normal, large, special };
constexpr std::array<std::string_view, 3> kContentNames{"normal", "large", "special"};

std::string_view name_of(Layout layout) { return kLayoutNames[static_cast<size_t>(layout)]; }
std::string_view name_of(Content content) { return kContentNames[static_cast<size_t>(content)]; }

/// Standard normal values that repeat after a prime number of them: making fresh ones would take
/// longer than all the rest of the test.
float repeating_normal(uint64_t index) {
  static const auto values = [] {
    std::array<float, 4093> made{};
    for (size_t i = 0; i < made.size(); ++i) made[i] = normal_at(7, 0, i);
    return made;
  }();
  return values[index % values.size()];
}

/// Value number `index` of an input.
float value_at(Content content, uint64_t stream, uint64_t index) {
  const float normal = repeating_normal(index + 1000 * stream);
  switch (content) {
    case Content::normal: return normal;
    case Content::large: return index % 3 == 0 ? normal * 1e4f : normal * 20;
    case Content::special: {
      constexpr std::array kValues{0.0f, -0.0f, kInfinity, -kInfinity, kNan, 1e-7f, 3.0f};
      return kValues[(index + stream) % kValues.size()];
    }
  }
  std::unreachable();
}

/// Extents of the memory that a view of `shape` in this layout needs.
Shape memory_shape(const Shape& shape, Layout layout) {
  std::vector<int64_t> extents(shape.extents().begin(), shape.extents().end());
  const size_t rank = extents.size();
  switch (layout) {
    case Layout::transposed: std::swap(extents[rank - 2], extents[rank - 1]); break;
    case Layout::sliced: extents[rank - 1] += 5; break;
    case Layout::spread: extents[rank - 1] *= 2; break;
    case Layout::repeated: extents[0] = 1; break;
    default: break;
  }
  return Shape::from(extents).value();
}

ConstTensorView view_of(const Tensor& memory, const Shape& shape, Layout layout) {
  const auto whole = memory.view();
  const size_t rank = shape.rank();
  Strides strides = whole.strides();
  const std::byte* first = whole.bytes();
  switch (layout) {
    case Layout::dense: break;
    case Layout::transposed: std::swap(strides[rank - 2], strides[rank - 1]); break;
    case Layout::sliced: first = whole.at(2); break;
    case Layout::spread: strides[rank - 1] = 2; break;
    case Layout::repeated: strides[0] = 0; break;
    case Layout::backward:
      first = whole.at((shape[0] - 1) * strides[0]);
      strides[0] = -strides[0];
      break;
  }
  return {first, whole.dtype(), shape, strides};
}

bool fits(const Shape& shape, Layout layout) {
  if (layout == Layout::dense) return true;
  if (layout == Layout::transposed) return shape.rank() >= 2;
  if (shape.elements() > 10'000) return false;  // the size matters in the others, not the layout
  return shape.rank() >= 1 && shape.elements() > 0;
}

class CaseBuilder {
 public:
  CaseBuilder(Op op, DType dtype) : dtype_(dtype) { case_.call.op = op; }

  CaseBuilder& input(const Shape& shape, Layout layout, Content content) {
    auto memory = Tensor::create(memory_shape(shape, layout), dtype_).value();
    fill(memory.view(), kNan);
    const auto view = view_of(memory, shape, layout);
    const TensorView writable(const_cast<std::byte*>(view.bytes()), dtype_, shape, view.strides());
    uint64_t index = 0;
    for_each_offset(writable, [&](int64_t offset) {
      store_from_float(writable, offset, value_at(content, case_.memory.size(), index++));
    });
    if (!case_.what.empty()) case_.what += ", ";
    case_.what += fmt::format("{} {} {}", shape.to_string(), name_of(layout), name_of(content));
    case_.memory.push_back(std::move(memory));
    case_.call.inputs.push_back(view);
    return *this;
  }
  CaseBuilder& slice(int64_t begin, int64_t end) {
    case_.call.begin = begin;
    case_.call.end = end;
    case_.what += fmt::format(" [{}, {})", begin, end);
    return *this;
  }
  CaseBuilder& beta(float value) {
    case_.call.beta = value;
    return *this;
  }
  /// The output has this shape, or the one that follows from the inputs.
  OpCase into(const Shape& shape) {
    const std::array extents{shape.elements() + kGuardElements};
    case_.memory.push_back(Tensor::create(Shape::from(extents).value(), dtype_).value());
    case_.call.out = TensorView(case_.memory.back().view().bytes(), dtype_, shape);
    case_.what += fmt::format(" -> {}", shape.to_string());
    poison_output(case_);
    return std::move(case_);
  }
  OpCase build() {
    case_.call.out = TensorView(nullptr, dtype_, {0});
    return into(output_shape(case_.call).value());
  }

  static void fill(const TensorView& view, float value) {
    for (int64_t i = 0; i < view.elements(); ++i) store_from_float(view, i, value);
  }

 private:
  OpCase case_;
  DType dtype_;
};

const std::vector<Shape>& awkward_shapes() {
  static const std::vector<Shape> shapes{{0},       {1},       {7, 13},   {5, 1},
                                         {3, 0, 2}, {2, 3, 5}, {257, 513}};
  return shapes;
}

using Cases = std::vector<OpCase>;

Cases fill_cases(Op op, DType dtype) {
  Cases cases;
  cases.push_back(CaseBuilder(op, dtype).into({}));
  for (const auto& shape : awkward_shapes()) cases.push_back(CaseBuilder(op, dtype).into(shape));
  return cases;
}

/// One input per argument, all of one shape: element-wise ops and sums.
Cases plain_cases(Op op, DType dtype) {
  const size_t inputs = input_count(op);
  const auto make = [&](const Shape& shape, Layout layout, Content content) {
    CaseBuilder builder(op, dtype);
    for (size_t i = 0; i < inputs; ++i) builder.input(shape, layout, content);
    return op == Op::swish ? builder.beta(1.7f).build() : builder.build();
  };
  Cases cases;
  cases.push_back(make({}, Layout::dense, Content::normal));
  for (const auto& shape : awkward_shapes()) {
    for (const Layout layout : kLayouts) {
      if (fits(shape, layout)) cases.push_back(make(shape, layout, Content::normal));
    }
  }
  cases.push_back(make({7, 13}, Layout::dense, Content::large));
  // Of NaN, relu may make 0; activations of infinity are limits that formulas miss.
  const bool defined_everywhere = op == Op::add || op == Op::mul;
  if (defined_everywhere) cases.push_back(make({7, 13}, Layout::dense, Content::special));
  if (inputs == 2) {
    cases.push_back(CaseBuilder(op, dtype)
                        .input({7, 13}, Layout::transposed, Content::normal)
                        .input({7, 13}, Layout::sliced, Content::normal)
                        .build());
  }
  return cases;
}

Cases product_cases(DType dtype) {
  Cases cases;
  const auto add = [&](const Shape& a, Layout a_layout, const Shape& b, Layout b_layout) {
    cases.push_back(CaseBuilder(Op::matmul, dtype)
                        .input(a, a_layout, Content::normal)
                        .input(b, b_layout, Content::normal)
                        .build());
  };
  const std::vector<std::pair<Shape, Shape>> dense{
      {{1, 1}, {1, 1}},       {{3, 0}, {0, 2}},         {{0, 3}, {3, 2}},
      {{3, 2}, {2, 0}},       {{1, 64}, {64, 33}},      {{33, 64}, {64, 1}},
      {{64, 64}, {64, 64}},   {{257, 129}, {129, 513}}, {{3, 7, 5}, {5, 4}},
      {{3, 7, 5}, {3, 5, 4}}, {{0, 7, 5}, {0, 5, 4}},   {{2, 3, 4, 5}, {2, 3, 5, 6}}};
  for (const auto& [a, b] : dense) add(a, Layout::dense, b, Layout::dense);
  for (const Layout a : kLayouts) {
    for (const Layout b : kLayouts) {
      add({7, 13}, a, {13, 5}, b);
      add({1, 13}, a, {13, 5}, b);
      add({3, 7, 5}, a, {3, 5, 4}, b);
    }
    add({3, 7, 5}, a, {5, 4}, Layout::transposed);
  }
  add({130, 257}, Layout::transposed, {257, 67}, Layout::transposed);
  return cases;
}

Cases row_cases(Op op, DType dtype) {
  const auto make = [&](const Shape& shape, Layout layout, Content content) {
    CaseBuilder builder(op, dtype);
    builder.input(shape, layout, content);
    const Shape per_column{shape[shape.rank() - 1]};
    const Layout weights = layout == Layout::spread ? Layout::spread : Layout::dense;
    for (size_t i = 1; i < input_count(op); ++i)
      builder.input(per_column, weights, Content::normal);
    return builder.build();
  };
  Cases cases;
  for (const auto& shape : awkward_shapes()) {
    for (const Layout layout : kLayouts) {
      if (fits(shape, layout)) cases.push_back(make(shape, layout, Content::normal));
    }
  }
  if (op != Op::softmax) return cases;
  cases.push_back(make({7, 13}, Layout::dense, Content::large));
  // A mask: some elements of each row are -infinity.
  auto masked = make({7, 13}, Layout::dense, Content::normal);
  const auto view = masked.memory[0].view();
  for (int64_t i = 0; i < view.elements(); i += 4) store_from_float(view, i, -kInfinity);
  masked.what += " with a mask";
  cases.push_back(std::move(masked));
  return cases;
}

Cases moving_cases(Op op, DType dtype) {
  Cases cases;
  for (const auto& shape : awkward_shapes()) {
    if (op == Op::transpose && shape.rank() < 2) continue;
    for (const Layout layout : kLayouts) {
      if (!fits(shape, layout)) continue;
      for (const Content content : {Content::normal, Content::special}) {
        CaseBuilder builder(op, dtype);
        builder.input(shape, layout, content);
        const int64_t extent = shape[shape.rank() - 1];
        if (op == Op::slice) builder.slice(extent / 3, extent - extent / 4);
        const bool flat = op == Op::reshape;
        cases.push_back(flat ? builder.into({shape.elements(), 1}) : builder.build());
      }
    }
  }
  return cases;
}

}  // namespace

std::vector<OpCase> cases_of(Op op, DType dtype) {
  switch (op) {
    case Op::zeros:
    case Op::ones:
    case Op::randn: return fill_cases(op, dtype);
    case Op::matmul: return product_cases(dtype);
    case Op::softmax:
    case Op::rmsnorm:
    case Op::layernorm: return row_cases(op, dtype);
    case Op::transpose:
    case Op::reshape:
    case Op::slice: return moving_cases(op, dtype);
    default: return plain_cases(op, dtype);
  }
}

void poison_output(OpCase& test_case) { CaseBuilder::fill(test_case.memory.back().view(), kNan); }

bool output_end_is_intact(const OpCase& test_case) {
  const auto memory = test_case.memory.back().view();
  for (int64_t i = memory.elements() - kGuardElements; i < memory.elements(); ++i) {
    if (load_as_float(memory, i) == load_as_float(memory, i)) return false;
  }
  return true;
}

}  // namespace trilobite
