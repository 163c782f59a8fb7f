#pragma once
// Texts that end a generation, although they may come in pieces.

#include <string>
#include <string_view>
#include <vector>

namespace trilobite::cli {

class StopText {
 public:
  /// None of `stops` is empty.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// What may be shown now: nothing of a stop text, and nothing that may yet become one.
  std::string push(std::string_view more);
  /// What was held back and did not become one.
  std::string finish();
  /// A stop text has come; everything before it has been given out.
  bool found() const { return found_; }

 private:
  size_t first_stop() const;
  size_t undecided() const;
  std::vector<std::string> stops_;
  std::string pending_;
  bool found_ = false;
};

}  // namespace trilobite::cli
