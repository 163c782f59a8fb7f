#include "store/database.hpp"

namespace trilobite::store {

Result<std::vector<std::string>> Database::texts(const std::string& sql) {
  const auto rows = run(sql);
  if (!rows) return fail_from(rows);
  std::vector<std::string> texts;
  for (const auto& row : *rows) texts.push_back(row.at(0).value_or(""));
  return texts;
}

}  // namespace trilobite::store
