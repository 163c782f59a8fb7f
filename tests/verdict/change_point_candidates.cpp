// What tools/fit_change_points.py learns from: the judged change points of each series, with their
// evidence, for given weights. Usage: change_point_candidates REQUEST.json, which holds
// {"files": [...], "cases": [{"weights": [...] or null, "least_weight": x}, ...]}; without weights
// every candidate of the segmentation stays. One JSON line per file and case goes to standard
// output.

#include <fmt/format.h>

#include <limits>

#include "base/file.hpp"
#include "base/json.hpp"
#include "verdict/change_points.hpp"
#include "verdict/series.hpp"

namespace {

using namespace trilobite;

verdict::ChangePointSettings settings_from(const Json& json) {
  verdict::ChangePointSettings settings;
  if (json.at("weights").is_null()) {
    settings.least_rank = 0;
    settings.least_weight = -std::numeric_limits<double>::infinity();
    return settings;
  }
  for (size_t i = 0; i < settings.weights.size(); ++i)
    settings.weights[i] = json.at("weights").at(i).get<double>();
  settings.least_weight = json.at("least_weight").get<double>();
  return settings;
}

Json judged(const std::vector<double>& values, const verdict::ChangePointSettings& settings) {
  Json indices = Json::array();
  Json evidence = Json::array();
  const auto series = verdict::prepare_series(values, settings);
  for (const auto& point : verdict::judged_points(series, settings)) {
    indices.push_back(point.index);
    evidence.push_back(point.evidence);
  }
  return {{"index", std::move(indices)}, {"evidence", std::move(evidence)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto request = parse_json(read_file(argv[1]).value()).value();
  for (const auto& file : request.at("files")) {
    const auto text = read_file(file.get<std::string>()).value();
    const auto values = verdict::series_from_csv(text, "").value().values();
    for (const auto& one : request.at("cases")) {
      auto line = judged(values, settings_from(one));
      line["file"] = file;
      fmt::print("{}\n", line.dump());
    }
  }
  return 0;
}
