#pragma once
// Ends a text that grows piece by piece where one of several texts begins in it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trilobite::model {

class StopTexts {
 public:
  /// None of them is empty.
  explicit StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  /// What may be shown now: it ends before a stop text, and before whatever could still become one.
  /// Valid until the next call.
  std::string_view push(std::string_view more);
  /// A stop text has occurred; what follows is dropped.
  bool stopped() const { return stopped_; }
  /// What was held back and became no stop text after all.
  std::string_view finish();

 private:
  /// Bytes at the end of what is held that begin a stop text.
  size_t beginning_at_end() const;

  std::vector<std::string> texts_;
  bool stopped_ = false;
  std::string held_;
  std::string ready_;
};

}  // namespace trilobite::model
