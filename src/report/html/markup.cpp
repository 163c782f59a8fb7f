#include "report/html/markup.hpp"

#include <fmt/format.h>

#include "report/chart/drawing.hpp"
#include "report/chart/palette.hpp"
#include "report/chart/render.hpp"
#include "report/csv_text.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"

namespace trilobite::html {
namespace {

constexpr size_t kRowsPerPage = 25;
constexpr size_t kChartsShown = 4;

std::string key(const chart::Series& series) {
  return fmt::format(
      "<button type=\"button\" aria-pressed=\"true\" data-key=\"{0}\"><svg class=\"chart\" "
      "viewBox=\"0 0 12 "
      "12\" aria-hidden=\"true\"><path class=\"mark c{1}\" "
      "d=\"{2}\"/></svg><bdi>{0}</bdi></button>",
      xml_text(series.name), series.color % chart::kSeriesColors,
      chart::symbol(series.color, 6, 6, 4.5));
}

std::string both_widths(const chart::Chart& chart, std::string_view scale) {
  return fmt::format(
      "<div class=\"plot wide {0}\">{1}</div><div class=\"plot narrow {0}\">{2}</div>", scale,
      svg_on_page(chart, chart::kWide), svg_on_page(chart, chart::kNarrow));
}

}  // namespace

std::string to_html(const chart::Chart& chart) {
  std::string text =
      fmt::format("<figure><figcaption><h3><bdi>{}</bdi></h3>", xml_text(chart.title));
  if (chart.series.size() > 1) {
    text += "<div class=\"legend\">";
    for (const auto& series : chart.series) text += key(series);
    text += "</div>";
  }
  text += "</figcaption>";
  const bool has_two_scales = !chart.only_logarithmic && chart::measured_axis(chart).logarithmic &&
                              chart::can_be_logarithmic(chart);
  text += has_two_scales
              ? both_widths(chart, "log") + both_widths(chart::on_scale(chart, false), "linear")
              : both_widths(chart, "");
  if (!chart.note.empty()) text += fmt::format("<p class=\"note\">{}</p>", xml_text(chart.note));
  return text + "</figure>\n";
}

std::string to_html(const std::vector<chart::Chart>& charts) {
  if (charts.empty()) return "";
  std::string text = "<div class=\"figures\">";
  for (size_t i = 0; i < charts.size(); ++i) {
    if (i == kChartsShown) {
      text +=
          fmt::format("</div><details class=\"more\"><summary>{}</summary><div class=\"figures\">",
                      counted(charts.size() - i, "more chart"));
    }
    text += to_html(charts[i]);
  }
  return text + (charts.size() > kChartsShown ? "</div></details>\n" : "</div>\n");
}

std::string to_html(const SortableTable& table) {
  std::string head;
  for (const auto& header : table.headers) {
    head += fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>",
                        header.is_text ? " class=\"text\"" : "", xml_text(header.text));
  }
  std::string rows;
  for (const auto& row : table.rows) rows += row;
  return fmt::format(
      "<div class=\"table\"><div class=\"tools\" hidden><input type=\"search\" "
      "placeholder=\"Search\" "
      "aria-label=\"Search: {0}\"><span class=\"count\"></span><span class=\"pager\"><button "
      "type=\"button\" class=\"tool\" aria-label=\"Previous page\">&larr;</button> <span></span> "
      "<button type=\"button\" class=\"tool\" aria-label=\"Next page\">&rarr;</button></span></div>"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
      "data-page=\"{1}\"><thead><tr>{2}</tr></thead><tbody>\n{3}</tbody></table></div></div>\n",
      xml_text(table.label), kRowsPerPage, head, rows);
}

std::string text_cell(std::string_view html) {
  return fmt::format("<td class=\"text\">{}</td>", html);
}

std::string number_cell(double value, std::string_view html) {
  return fmt::format("<td data-v=\"{}\">{}</td>", csv_number(value), html);
}

std::string code(std::string_view text) {
  // Ids are long and break best between their parts.
  std::string html = "<code><bdi>";
  for (const char c : xml_text(text)) {
    html += c;
    if (c == '/') html += "<wbr>";
  }
  return html + "</bdi></code>";
}

std::string link_to(const ReportData& data, const std::string& id) {
  const auto found = data.index.find(id);
  if (found == data.index.end()) return code(id);
  return fmt::format("<a href=\"#b{}\">{}</a>", found->second, code(id));
}

}  // namespace trilobite::html
