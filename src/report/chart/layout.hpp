#pragma once
// Where everything of one chart goes. Sizes are SVG user units, one CSS pixel at full width.

#include "report/chart/chart.hpp"
#include "report/chart/scale.hpp"

namespace trilobite::chart {

struct Area {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

struct Layout {
  double width = 0;
  double height = 0;
  Area plot;
  Scale x;
  Scale y;                     // without categories
  double title_baseline = 0;   // of the title of y
  double row_height = 0;       // with categories
  double slot_height = 0;      // of one bar in a row
  double label_height = 0;     // of a name above its row; 0: names stand left of the rows
  double pixels_per_name = 0;  // room for a name

  /// The middle of slot `slot` of row `row`.
  double row_place(double row, size_t slot, size_t slots) const;
};

struct LayoutOptions {
  double width = 860;  // below 500: names above the rows, fewer ticks
  double above = 0;    // taken by a title and a legend
  double head = 8;     // room between them and the plot: the title of y, labels of rules
};

Layout layout_of(const Chart& chart, const LayoutOptions& options);

/// Bars of different series share a row side by side; everything else uses its middle.
size_t slots_of(const Chart& chart);

/// Columns of text that fit into `pixels`, and back; charts use one size of letters.
size_t columns_in(double pixels);
double pixels_of(const std::string& text);

}  // namespace trilobite::chart
