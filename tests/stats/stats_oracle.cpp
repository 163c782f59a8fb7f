// Reads cases from standard input and prints what stats/ makes of them, for tools/check_stats.py.
// A case is one line: a command, then lists of numbers, each preceded by its length. The answer is
// one line of numbers with 17 digits, or "error: <sentence>".

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "stats/bootstrap.hpp"
#include "stats/describe.hpp"
#include "stats/mann_whitney.hpp"
#include "stats/median_interval.hpp"
#include "stats/outliers.hpp"
#include "stats/theil_sen.hpp"
#include "stats/welch.hpp"

namespace trilobite::stats {
namespace {

using Numbers = std::vector<double>;
using Lists = std::vector<Numbers>;

Result<Numbers> describe_case(const Lists& lists) {
  const auto sample = Sample::from(lists.at(0));
  if (!sample) return fail_from(sample);
  Numbers answer = {median(*sample),     mean(*sample), sd(*sample),  mad(*sample),
                    scaled_mad(*sample), sample->min(), sample->max()};
  for (const double percent : {0.0, 1.0, 25.0, 33.3, 50.0, 75.0, 95.0, 99.0, 100.0}) {
    answer.push_back(percentile(*sample, percent));
  }
  const auto outliers = count_outliers(*sample);
  for (const size_t count :
       {outliers.low_severe, outliers.low_mild, outliers.high_mild, outliers.high_severe}) {
    answer.push_back(static_cast<double>(count));
  }
  return answer;
}

Result<Numbers> median_interval_case(const Lists& lists) {
  const auto sample = Sample::from(lists.at(0));
  if (!sample) return fail_from(sample);
  const auto interval = median_interval(*sample, lists.at(1).at(0));
  return Numbers{interval.low, interval.high};
}

Result<Numbers> bootstrap_case(const Lists& lists) {
  const auto sample = Sample::from(lists.at(0));
  if (!sample) return fail_from(sample);
  const BootstrapOptions options{.seed = 7, .resamples = 20'000, .confidence = 0.95};
  const auto interval = bca_interval(*sample, mean_of_sorted, options);
  return Numbers{interval.low, interval.high};
}

Result<Numbers> mann_whitney_case(const Lists& lists) {
  const auto first = Sample::from(lists.at(0));
  const auto second = Sample::from(lists.at(1));
  if (!first || !second) return fail("not a sample");
  const auto test = mann_whitney(*first, *second);
  return Numbers{test.u, test.p_value};
}

Result<Numbers> welch_case(const Lists& lists) {
  const auto first = Sample::from(lists.at(0));
  const auto second = Sample::from(lists.at(1));
  if (!first || !second) return fail("not a sample");
  const auto test = welch(*first, *second);
  if (!test) return fail_from(test);
  return Numbers{test->t, test->degrees_of_freedom, test->p_value, test->difference.low,
                 test->difference.high};
}

Result<Numbers> theil_sen_case(const Lists& lists) {
  const auto line = theil_sen(lists.at(0), lists.at(1));
  if (!line) return fail_from(line);
  return Numbers{line->slope, line->intercept, line->slope_interval.low, line->slope_interval.high};
}

Lists read_lists(std::istream& in) {
  Lists lists;
  for (size_t length = 0; in >> length;) {
    Numbers& list = lists.emplace_back(length);
    for (double& value : list) in >> value;
  }
  return lists;
}

std::string answer_to(const std::string& line) {
  using Command = std::function<Result<Numbers>(const Lists&)>;
  static const std::map<std::string, Command> kCommands = {
      {"describe", describe_case},   {"median_interval", median_interval_case},
      {"bootstrap", bootstrap_case}, {"mann_whitney", mann_whitney_case},
      {"welch", welch_case},         {"theil_sen", theil_sen_case},
  };
  std::istringstream in(line);
  std::string name;
  in >> name;
  const auto command = kCommands.find(name);
  if (command == kCommands.end()) return "error: no command " + name;
  const auto answer = command->second(read_lists(in));
  if (!answer) return "error: " + answer.error().message();
  return fmt::format("{:.17g}", fmt::join(*answer, " "));
}

}  // namespace
}  // namespace trilobite::stats

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << trilobite::stats::answer_to(line) << '\n';
  }
}
