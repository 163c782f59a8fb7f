#include "report/chart/quantity.hpp"

#include <fmt/format.h>

#include "base/duration.hpp"
#include "report/human_units.hpp"

namespace trilobite::chart {

std::string value_text(double value, Quantity quantity, const std::string& unit) {
  switch (quantity) {
    case Quantity::time_ns: return human_time(value);
    case Quantity::bytes: return human_bytes(value);
    case Quantity::rate: return human_rate(value, unit);
    case Quantity::ratio: return human_ratio(value);
    case Quantity::change: return human_change(value);
    case Quantity::decibel: return fmt::format("{:.1f} dB", value);
    case Quantity::count: return human_rate(value, "");
    case Quantity::plain: break;
  }
  return unit.empty() ? fmt::format("{:.4g}", value) : fmt::format("{:.4g} {}", value, unit);
}

bool counts_in_binary(Quantity quantity) { return quantity == Quantity::bytes; }

}  // namespace trilobite::chart
