#pragma once
// What `ci` writes: Markdown for a pull request, JSON, JUnit.

#include <string>
#include <string_view>

#include "report/ab_report.hpp"

namespace trilobite {

/// A commit of a git repository.
struct Revision {
  std::string name;    // as the user wrote it
  std::string commit;  // full hash
  std::string subject;
};

struct CiResult {
  Revision base;
  Revision head;
  std::string machine;
  double threshold = 0.05;
  double critical = 0.15;
  AbReport ab;
};

enum class CiStatus { pass, regressed, critical, failed };
/// The worst that is in it: "failed" (a program failed, or a benchmark is gone) is between
/// regressed and critical.
CiStatus status_of(const CiResult& result);
std::string_view name_of(CiStatus status);

/// "2 regressed (worst +31 %: kernels/add), 1 improved, ..."
std::string ci_headline(const CiResult& result);
std::string ci_markdown(const CiResult& result);
/// Schema trilobite.ci/1, docs/continuous-integration.md.
std::string ci_json(const CiResult& result);
/// One test case per benchmark: a regression is a failure, a problem an error, undecided skipped.
std::string ci_junit(const CiResult& result);

}  // namespace trilobite
