#include "tensor/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/parse_number.hpp"

namespace trilobite {
namespace {

// 2^48 elements: far above any memory, and 16-byte elements still fit in int64_t.
constexpr int64_t kMaxElements = int64_t{1} << 48;

}  // namespace

Result<Shape> Shape::from(std::span<const int64_t> extents) {
  if (extents.size() > kMaxRank) {
    return fail(fmt::format("a shape of rank {} is not supported, the most is {}", extents.size(),
                            kMaxRank));
  }
  Shape shape;
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 0)
      return fail(fmt::format("the shape {} has a negative extent", fmt::join(extents, "x")));
    if (extent > 0 && product > kMaxElements / extent) {
      return fail(fmt::format("the shape {} is too large for any memory", fmt::join(extents, "x")));
    }
    product *= std::max<int64_t>(extent, 1);
    shape.extents_[shape.rank_++] = extent;
  }
  return shape;
}

Shape::Shape(std::initializer_list<int64_t> extents) {
  auto checked = from(std::span(extents.begin(), extents.size()));
  TRILOBITE_CHECK(checked.has_value());
  *this = *checked;
}

Result<Shape> Shape::parse(std::string_view text) {
  std::vector<int64_t> extents;
  std::string_view rest = text;
  while (true) {
    const auto end = rest.find('x');
    const auto extent = parse_int(rest.substr(0, end));
    if (!extent) return fail(fmt::format("'{}' is not a shape; write extents like 128x256", text));
    extents.push_back(*extent);
    if (end == std::string_view::npos) return from(extents);
    rest.remove_prefix(end + 1);
  }
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (const int64_t extent : extents()) product *= extent;
  return product;
}

std::string Shape::to_string() const {
  return rank_ == 0 ? "scalar" : fmt::format("{}", fmt::join(extents(), "x"));
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(extents(), other.extents());
}

}  // namespace trilobite
