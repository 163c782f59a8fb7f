#pragma once
// A chart as plain data: axes, series of marks, reference lines. Whoever makes one knows what it
// shows; chart/render.hpp knows how it is drawn, and nothing about benchmarks.

#include <optional>
#include <string>
#include <vector>

#include "record/record.hpp"
#include "report/chart/quantity.hpp"

namespace trilobite::chart {

struct Axis {
  std::string title;
  Quantity quantity = Quantity::plain;
  std::string unit;                     // of a rate or a plain value
  bool logarithmic = false;             // falls back to linear when a value is not above zero
  std::optional<double> base;           // where bars start; a linear scale includes it
  std::vector<std::string> categories;  // of y: names of rows, top to bottom; y is their number
  std::vector<std::string> ends;        // of x: what stands below its two ends, instead of ticks
};

struct Mark {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;  // of the measured axis: x with categories, else y
  std::string text;                  // shown when the mark is pointed at
  std::string facets;                // what filters look at
};

enum class Shape { bars, dots, line };

struct Series {
  std::string name;
  Shape shape = Shape::dots;
  size_t color = 0;  // of the palette, modulo its size
  std::vector<Mark> marks;
};

enum class RuleKind { limit, level, worse, better };

/// A line to hold the marks against: a roof, a level, a moment of change.
struct Rule {
  RuleKind kind = RuleKind::limit;
  std::vector<std::pair<double, double>> points;  // at least two; infinite: to the end of the axis
  std::string label;
  std::string text;  // shown when it is pointed at
};

struct Chart {
  std::string title;
  std::string note;  // what was left out, how to read it; may be empty
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Rule> rules;
  bool only_logarithmic = false;  // a linear scale would show nothing
};

}  // namespace trilobite::chart
