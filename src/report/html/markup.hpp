#pragma once
// The pieces that all sections of the page are made of. Texts are plain and become HTML here.

#include <string>
#include <string_view>
#include <vector>

#include "report/chart/chart.hpp"
#include "report/report_data.hpp"

namespace trilobite::html {

struct Header {
  std::string text;
  bool is_text = false;  // left-aligned, as the first column always is
};

/// A table that sorts, searches and turns pages.
struct SortableTable {
  std::string label;  // for those who do not see it
  std::vector<Header> headers;
  std::vector<std::string> rows;  // whole <tr> elements
};
std::string to_html(const SortableTable& table);

/// <td> of a text; `html` is markup already.
std::string text_cell(std::string_view html);
/// <td> with the exact value for sorting, and for programs; a value that does not exist is last.
std::string number_cell(double value, std::string_view html);
/// "<code>" with the text, isolated from the writing direction around it.
std::string code(std::string_view text);

/// One chart in both widths and, where it can be, on both scales, with its legend.
std::string to_html(const chart::Chart& chart);
/// The first few, the rest folded.
std::string to_html(const std::vector<chart::Chart>& charts);

/// A link to the row of a benchmark; its id alone when the record has no such benchmark.
std::string link_to(const ReportData& data, const std::string& id);

}  // namespace trilobite::html
