// Any text given to the readers of the verdicts ends in an answer or an error: series, baselines,
// thresholds, files of single figures, alerts.

#include "base/csv.hpp"
#include "notify/alert.hpp"
#include "record/baseline.hpp"
#include "verdict/metric_file.hpp"
#include "verdict/thresholds.hpp"
#include "verdict/trend.hpp"

using namespace trilobite;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_csv(text);
  if (auto series = verdict::series_from_csv(text, "x"))
    (void)verdict::analyse_trend(*std::move(series), nullptr, {});
  (void)baseline_from_json_text(text);
  if (const auto json = parse_json(text)) {
    if (json->is_object()) (void)verdict::settings_from_json(*json, {});
    if (json->is_object()) (void)notify::channels_from_json(*json);
    if (verdict::is_metric_file(*json)) {
      const auto table = verdict::metrics_in(*json, "linux-x86_64");
      if (table) (void)verdict::compare_metrics(*table, *table, {});
    }
  }
  return 0;
}
