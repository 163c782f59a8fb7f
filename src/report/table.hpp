#pragma once
// A table of aligned columns that fits a terminal: columns that matter less are left out before a
// line would wrap. Knows nothing about benchmarks.

#include <string>
#include <vector>

namespace trilobite {

enum class Style { plain, heading, good, doubtful, bad, quiet };

/// `text` in the colours of `style`; as it is when `color` is false.
std::string styled(const std::string& text, Style style, bool color);

struct Cell {
  std::string text;  // printable()
  Style style = Style::plain;
};

struct Column {
  std::string header;
  bool left_aligned = false;
  unsigned importance = 0;  // the least important is left out first
};

/// One line. A row with fewer cells than columns uses the rest of the line for its last cell: a
/// group's heading has one cell, a benchmark that failed has two, its name and the reason.
using Row = std::vector<Cell>;

struct Table {
  std::vector<Column> columns;  // the first one names the row; it is never left out
  std::vector<Row> rows;
};

/// No line is wider than `width` columns (0: no limit); each ends with a line break. Columns that
/// are empty in all rows are left out. Names are shortened only when leaving out columns was not
/// enough, or to keep the others when they are longer than 40 columns.
std::string render(const Table& table, size_t width, bool color);

/// The headers of the columns that render() leaves out because of the width.
std::vector<std::string> left_out(const Table& table, size_t width);

}  // namespace trilobite
