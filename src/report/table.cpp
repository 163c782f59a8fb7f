#include "report/table.hpp"

#include <algorithm>

#include "report/display_text.hpp"

namespace trilobite {
namespace {

constexpr size_t kGap = 2;
/// Columns are left out for names up to this width, which holds most ids; longer names are
/// shortened instead, so that one long name does not cost everybody else's columns.
constexpr size_t kNameWidth = 40;

struct Layout {
  std::vector<size_t> shown;   // indices of columns, in order
  std::vector<size_t> widths;  // of all columns
};

bool is_full(const Row& row, const Table& table) { return row.size() == table.columns.size(); }

std::vector<size_t> natural_widths(const Table& table) {
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      // The last cell of a short row may run over the other columns.
      const bool counts = is_full(row, table) || i + 1 < row.size();
      if (counts) widths[i] = std::max(widths[i], display_width(row[i].text));
    }
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0 || i == 0)
      widths[i] = std::max(widths[i], display_width(table.columns[i].header));
  }
  return widths;
}

size_t total_width(const Layout& layout, size_t name_width) {
  size_t total = name_width;
  for (const size_t column : layout.shown) {
    if (column != 0) total += kGap + layout.widths[column];
  }
  return total;
}

Layout layout_for(const Table& table, size_t width) {
  Layout layout{.shown = {}, .widths = natural_widths(table)};
  for (size_t i = 0; i < layout.widths.size(); ++i) {
    if (i == 0 || layout.widths[i] > 0) layout.shown.push_back(i);
  }
  if (width == 0 || layout.shown.empty()) return layout;
  const size_t wanted = std::min(layout.widths[0], kNameWidth);
  const auto importance = [&](size_t column) { return table.columns[column].importance; };
  // The second column (the time) stays too: without it the table says nothing.
  while (layout.shown.size() > 2 && total_width(layout, wanted) > width) {
    layout.shown.erase(
        std::min_element(layout.shown.begin() + 1, layout.shown.end(),
                         [&](size_t a, size_t b) { return importance(a) < importance(b); }));
  }
  const size_t others = total_width(layout, 0);
  layout.widths[0] = std::min(layout.widths[0], width > others ? width - others : 1);
  return layout;
}

std::string padding(size_t width, const std::string& text) {
  const size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ');
}

class Renderer {
 public:
  Renderer(const Table& table, size_t width, bool color)
      : table_(table), layout_(layout_for(table, width)), width_(width), color_(color) {}

  std::string all() {
    Row header;
    for (const auto& column : table_.columns) header.push_back({column.header, Style::heading});
    full(header);
    for (const auto& row : table_.rows) {
      if (is_full(row, table_)) {
        full(row);
      } else {
        short_row(row);
      }
    }
    return std::move(text_);
  }

 private:
  void full(const Row& row) {
    std::string line;
    std::string blanks;  // kept back, so that no line ends with blanks
    size_t used = 0;
    for (const size_t i : layout_.shown) {
      const size_t gap = i == 0 ? 0 : kGap;
      const size_t room = room_for(i, used + gap);
      const auto text = i == 0 ? shortened_in_the_middle(row[i].text, room)
                               : shortened_at_the_end(row[i].text, room);
      const auto pad = padding(std::min(layout_.widths[i], room), text);
      const bool left = table_.columns[i].left_aligned;
      blanks.append(gap, ' ');
      if (!left) blanks += pad;
      if (!text.empty()) {
        line += blanks + styled(text, row[i].style, color_);
        blanks.clear();
      }
      if (left || text.empty()) blanks += left ? pad : "";
      used += gap + std::min(layout_.widths[i], room);
    }
    text_ += line + "\n";
  }

  void short_row(const Row& row) {
    std::string line;
    size_t used = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const size_t room =
          last ? (width_ == 0 ? SIZE_MAX : width_ - std::min(used, width_)) : room_for(i, used);
      const auto text = i == 0 && !last ? shortened_in_the_middle(row[i].text, room)
                                        : shortened_at_the_end(row[i].text, room);
      line += styled(text, row[i].style, color_);
      if (!last) {
        line += padding(layout_.widths[i], text) + std::string(kGap, ' ');
        used += std::max(layout_.widths[i], display_width(text)) + kGap;
      }
    }
    while (line.ends_with(' ')) line.pop_back();
    text_ += line + "\n";
  }

  /// Columns left for column `i` when `used` are taken: its width, less at the end of the line.
  size_t room_for(size_t i, size_t used) const {
    if (width_ == 0) return layout_.widths[i];
    return std::min(layout_.widths[i], width_ - std::min(used, width_));
  }

  const Table& table_;
  Layout layout_;
  size_t width_;
  bool color_;
  std::string text_;
};

}  // namespace

std::string styled(const std::string& text, Style style, bool color) {
  if (!color || text.empty() || style == Style::plain) return text;
  const char* code = "";
  switch (style) {
    case Style::plain: return text;
    case Style::heading: code = "\x1b[1m"; break;
    case Style::good: code = "\x1b[32m"; break;
    case Style::doubtful: code = "\x1b[33m"; break;
    case Style::bad: code = "\x1b[31m"; break;
    case Style::quiet: code = "\x1b[2m"; break;
  }
  return code + text + "\x1b[0m";
}

std::vector<std::string> left_out(const Table& table, size_t width) {
  const auto all = layout_for(table, 0).shown;
  const auto shown = layout_for(table, width).shown;
  std::vector<std::string> headers;
  for (const size_t column : all) {
    if (std::ranges::find(shown, column) == shown.end()) {
      headers.push_back(table.columns[column].header);
    }
  }
  return headers;
}

std::string render(const Table& table, size_t width, bool color) {
  return Renderer(table, width, color).all();
}

}  // namespace trilobite
