#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "record/record_json.hpp"

namespace trilobite::cli {

int run_report(const Arguments& arguments) {
  CLI::App app("Writes a record in another format", "report");
  std::string input;
  std::string output;
  std::string format = "human";
  app.add_option("--input", input, "a record written by bench or compare")->required();
  app.add_option("--output", output, "where it goes (default: standard output)");
  app.add_option("--format", format, "human, json, csv, samples-csv, bencher or gbench")
      ->check(CLI::IsMember(format_names()));
  if (const auto over = parse(app, arguments)) return *over;
  const auto record = load_record(input);
  if (!record) return report_error(record.error());
  const auto text = find_format(format)->write(*record);
  const auto done = deliver(text, output);
  return done ? kFine : report_error(done.error());
}

}  // namespace trilobite::cli
