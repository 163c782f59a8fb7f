#include "model/stop_texts.hpp"

#include <algorithm>

namespace trilobite::model {

size_t StopTexts::beginning_at_end() const {
  size_t longest = 0;
  for (const auto& text : texts_) {
    size_t length = std::min(text.size() - 1, held_.size());
    while (length > longest && !held_.ends_with(std::string_view(text).substr(0, length))) --length;
    longest = std::max(longest, length);
  }
  return longest;
}

std::string_view StopTexts::push(std::string_view more) {
  ready_.clear();
  if (stopped_) return ready_;
  held_ += more;
  size_t end = std::string::npos;
  for (const auto& text : texts_) end = std::min(end, held_.find(text));
  stopped_ = end != std::string::npos;
  if (!stopped_) end = held_.size() - beginning_at_end();
  ready_ = held_.substr(0, end);
  held_.erase(0, stopped_ ? std::string::npos : end);
  return ready_;
}

std::string_view StopTexts::finish() {
  ready_.swap(held_);
  held_.clear();
  return ready_;
}

}  // namespace trilobite::model
