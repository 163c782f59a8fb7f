#include "cli/stop_text.hpp"

#include <algorithm>
#include <utility>

namespace trilobite::cli {

std::string StopText::push(std::string_view more) {
  pending_ += more;
  const size_t stop = first_stop();
  found_ = stop != std::string::npos;
  const size_t shown = found_ ? stop : pending_.size() - undecided();
  auto text = pending_.substr(0, shown);
  pending_.erase(0, found_ ? std::string::npos : shown);
  return text;
}

std::string StopText::finish() { return std::exchange(pending_, std::string()); }

/// Where the first stop text begins.
size_t StopText::first_stop() const {
  size_t first = std::string::npos;
  for (const auto& stop : stops_) first = std::min(first, pending_.find(stop));
  return first;
}

/// Bytes at the end that are the beginning of a stop text.
size_t StopText::undecided() const {
  size_t longest = 0;
  for (const auto& stop : stops_) {
    for (size_t length = std::min(stop.size() - 1, pending_.size()); length > longest; --length) {
      if (pending_.ends_with(std::string_view(stop).substr(0, length))) longest = length;
    }
  }
  return longest;
}

}  // namespace trilobite::cli
