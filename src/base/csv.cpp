#include "base/csv.hpp"

#include <fmt/format.h>

namespace trilobite {
namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  bool at_end() const { return at_ == text_.size(); }

  bool skip_empty_line() {
    if (!at_line_end()) return false;
    end_line();
    return true;
  }

  Result<CsvRow> row() {
    CsvRow row{line_, {}};
    do {
      auto field = this->field();
      if (!field) return fail_from(field);
      row.fields.push_back(*std::move(field));
    } while (take(','));
    end_line();
    return row;
  }

 private:
  bool is(char c) const { return !at_end() && text_[at_] == c; }
  bool take(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }
  bool at_line_end() const { return at_end() || is('\n') || text_.substr(at_).starts_with("\r\n"); }
  void end_line() {
    take('\r');
    if (take('\n')) ++line_;
  }

  Result<std::string> field() { return take('"') ? quoted() : plain(); }

  std::string plain() {
    const size_t begin = at_;
    while (!is(',') && !at_line_end()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> quoted() {
    const size_t opened = line_;
    std::string field;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        field += c;
      } else if (take('"')) {
        field += '"';
      } else if (is(',') || at_line_end()) {
        return field;
      } else {
        return fail(fmt::format("line {}: text follows a closing quote", line_));
      }
    }
    return fail(fmt::format("line {}: a quote is never closed", opened));
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> parse_csv(std::string_view text) {
  CsvReader reader(text);
  std::vector<CsvRow> rows;
  while (!reader.at_end()) {
    if (reader.skip_empty_line()) continue;
    auto row = reader.row();
    if (!row) return fail_from(row);
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace trilobite
