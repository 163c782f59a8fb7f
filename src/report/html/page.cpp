#include "report/html/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/assets.hpp"
#include "report/chart/palette.hpp"
#include "report/chart/render.hpp"
#include "report/html/markup.hpp"
#include "report/html/sections.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"

namespace trilobite {
namespace {

using html::Section;

std::string styles() {
  const auto light = chart::custom_properties(false);
  const auto dark = chart::custom_properties(true);
  return fmt::format(
      ":root{{{0}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{1}}}}}\n"
      ":root[data-theme=dark]{{{1}}}\n@media print{{:root,:root[data-theme]{{{0}}}}}\n{2}\n{3}",
      light, dark, assets::chart_css(), assets::report_css());
}

/// The content that a section has, in the order asked for.
struct Written {
  const Section* section;
  std::string content;
};

std::vector<Written> write_sections(const ReportData& data, const std::vector<std::string>& names) {
  std::vector<Written> written;
  const auto& all = html::sections();
  if (names.empty()) {
    for (const auto& section : all) {
      auto content = section.write(data);
      if (!content.empty()) written.push_back({&section, std::move(content)});
    }
    return written;
  }
  for (const auto& name : names) {
    const auto found = std::ranges::find(all, name, &Section::name);
    if (found == all.end()) continue;  // check_sections has refused it
    auto content = found->write(data);
    if (content.empty()) content = fmt::format("<p>{}</p>", found->absent);
    written.push_back({&*found, std::move(content)});
  }
  return written;
}

std::string selector(std::string_view label, const std::vector<std::string>& values) {
  std::string options;
  for (size_t i = 0; i < values.size(); ++i)
    options += fmt::format("<option value=\"{}\">{}</option>", i, xml_text(values[i]));
  return fmt::format(
      "<label>{0}<select data-facet=\"{0}\"><option value=\"\">all</option>{1}</select></label>",
      label, options);
}

std::string toolbar(const ReportData& data, const std::vector<Written>& written) {
  std::string links;
  for (const auto& one : written)
    links += fmt::format("<a href=\"#{0}\">{0}</a>", one.section->name);
  return fmt::format(
      "<div class=\"bar\"><div><nav aria-label=\"Sections\">{}</nav></div><div id=\"filters\" "
      "hidden>{}{}{}<label>scale<select id=\"scale\"><option value=\"log\">logarithmic</option>"
      "<option value=\"linear\">linear</option></select></label><button type=\"button\" "
      "class=\"tool\" id=\"reset\">Reset</button></div></div>\n",
      links, selector("suite", data.facets.suites), selector("device", data.facets.devices),
      selector("type", data.facets.dtypes));
}

std::string title_of(const ReportData& data) {
  return data.sources.size() == 1 ? data.sources.front().name : counted(data.sources.size(), "run");
}

std::string header(const ReportData& data) {
  const auto& record = data.joined;
  std::string facts;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) facts += (facts.empty() ? "" : " · ") + xml_text(fact);
  };
  add(record.environment.cpu.model);
  add(counted(record.threads, "thread"));
  add(record.isa);
  add(record.git.commit.substr(0, 10));
  add(record.started_at);
  return fmt::format(
      "<header><div class=\"head\"><div><div class=\"brand\">Trilobite performance report</div>"
      "<h1><bdi>{}</bdi></h1></div><button type=\"button\" class=\"tool\" id=\"theme\" "
      "hidden>Dark</button></div><p class=\"facts\">{}</p></header>\n",
      xml_text(title_of(data)), facts);
}

}  // namespace

std::vector<std::string> html_section_names() {
  std::vector<std::string> names;
  for (const auto& section : html::sections()) names.emplace_back(section.name);
  return names;
}

Result<void> check_sections(const std::vector<std::string>& names) {
  const auto known = html_section_names();
  for (const auto& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(
          fmt::format("there is no section '{}'; there are {}", name, fmt::join(known, ", ")));
    }
  }
  return {};
}

std::string to_html(const ReportData& data, const HtmlOptions& options) {
  const auto written = write_sections(data, options.sections);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{} · Trilobite report</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
      "content</a>\n",
      xml_text(title_of(data)), styles());
  text += header(data) + toolbar(data, written) + "<main id=\"main\">\n";
  for (const auto& one : written) {
    text += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n",
        one.section->name, one.section->title);
    text += one.content;
    text += "</section>\n";
  }
  text += fmt::format(
      "</main>\n<footer><p>Made by trilobite {} on {}. This file needs no network; the samples "
      "behind "
      "it are in the record.</p></footer>\n<div id=\"tip\" role=\"status\" "
      "hidden></div>\n<script>\n{}"
      "</script>\n</body>\n</html>\n",
      xml_text(data.joined.version), xml_text(data.made_at), assets::report_js());
  return text;
}

}  // namespace trilobite
