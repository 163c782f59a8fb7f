#pragma once
// The answer of `regression-check` in its four forms.

#include <string>

#include "verdict/regression.hpp"

namespace trilobite {

std::string regression_table(const verdict::RegressionReport& report, size_t width, bool color);
/// Schema trilobite.regression/1, docs/verdicts.md.
std::string regression_json(const verdict::RegressionReport& report);
/// One test case per benchmark and metric: a regression is a failure, undecided is skipped.
std::string regression_junit(const verdict::RegressionReport& report);
std::string regression_markdown(const verdict::RegressionReport& report);

}  // namespace trilobite
