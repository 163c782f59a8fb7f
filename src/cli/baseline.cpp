#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "measure/clock.hpp"
#include "report/display_text.hpp"
#include "report/table.hpp"

namespace trilobite::cli {
namespace {

struct BaselineFlags {
  std::string store;
  std::string id;
  std::string description;
  std::vector<std::string> tags;
  std::vector<std::string> runs;
  std::string path;
  std::string format = "human";
  bool replace = false;
};

/// The runs of all pools that were named.
Result<std::vector<RunRecord>> named_runs(const BaselineFlags& flags) {
  std::vector<RunRecord> runs;
  for (const auto& name : flags.runs) {
    auto pool = load_pool(name, flags.store);
    if (!pool) return fail_from(pool);
    for (auto& run : pool->runs) runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::string> create(const BaselineFlags& flags) {
  auto runs = named_runs(flags);
  if (!runs) return fail_from(runs);
  auto history = open_store(flags.store, store::Access::write);
  if (!history) return fail_from(history);
  const auto now = utc_now();
  const Baseline baseline{.id = flags.id,
                          .description = flags.description,
                          .tags = flags.tags,
                          .created_at = now,
                          .updated_at = now,
                          .runs = *std::move(runs)};
  if (auto created = history->create(baseline); !created) return fail_from(created);
  return fmt::format("baseline '{}' of {} run{} is in {}\n", flags.id, baseline.runs.size(),
                     baseline.runs.size() == 1 ? "" : "s", history->name());
}

Result<std::string> update(const BaselineFlags& flags) {
  auto runs = named_runs(flags);
  if (!runs) return fail_from(runs);
  auto history = open_store(flags.store, store::Access::write);
  if (!history) return fail_from(history);
  size_t count = 0;
  auto updated = history->update(flags.id, [&](Baseline& baseline) -> Result<void> {
    if (flags.replace && !runs->empty()) baseline.runs.clear();
    for (auto& run : *runs) baseline.runs.push_back(std::move(run));
    if (!flags.description.empty()) baseline.description = flags.description;
    if (!flags.tags.empty()) baseline.tags = flags.tags;
    baseline.updated_at = utc_now();
    count = baseline.runs.size();
    return {};
  });
  if (!updated) return fail_from(updated);
  return fmt::format("baseline '{}' has {} run{} now\n", flags.id, count, count == 1 ? "" : "s");
}

Json json_of(const store::BaselineEntry& entry) {
  return {{"id", entry.id},
          {"description", valid_utf8(entry.description)},
          {"tags", entry.tags},
          {"runs", entry.runs},
          {"created_at", entry.created_at},
          {"updated_at", entry.updated_at},
          {"platform", entry.platform},
          {"fingerprint", entry.fingerprint},
          {"version", entry.version},
          {"commit", entry.commit}};
}

Result<std::string> list(const BaselineFlags& flags) {
  auto history = open_store(flags.store, store::Access::read);
  if (!history) return fail_from(history);
  const auto entries = history->baselines();
  if (!entries) return fail_from(entries);
  if (flags.format == "json") {
    Json all = Json::array();
    for (const auto& entry : *entries) all.push_back(json_of(entry));
    return json_document(all);
  }
  if (entries->empty()) return fmt::format("{} has no baseline\n", history->name());
  Table table{{{"id", true, 9},
               {"runs", false, 8},
               {"updated", true, 6},
               {"version", true, 4},
               {"commit", true, 5},
               {"machine", true, 3},
               {"tags", true, 2},
               {"description", true, 7}},
              {}};
  for (const auto& entry : *entries) {
    table.rows.push_back({{entry.id},
                          {fmt::format("{}", entry.runs)},
                          {printable(entry.updated_at)},
                          {printable(entry.version)},
                          {printable(entry.commit).substr(0, 12)},
                          {printable(entry.fingerprint)},
                          {printable(fmt::format("{}", fmt::join(entry.tags, ", ")))},
                          {printable(entry.description)}});
  }
  return render(table, terminal_width(), stdout_is_terminal());
}

Result<std::string> show(const BaselineFlags& flags) {
  auto history = open_store(flags.store, store::Access::read);
  if (!history) return fail_from(history);
  const auto baseline = history->baseline(flags.id);
  if (!baseline) return fail_from(baseline);
  if (flags.format == "json") return to_json_text(*baseline);
  const auto& machine = baseline->runs.front().environment;
  std::string text = fmt::format("{}: {}\ntags: {}\ncreated {}, updated {}\nmachine {} ({}, {})\n",
                                 baseline->id, printable(baseline->description),
                                 printable(fmt::format("{}", fmt::join(baseline->tags, ", "))),
                                 baseline->created_at, baseline->updated_at, machine.fingerprint,
                                 machine.platform, printable(machine.cpu.model));
  for (const auto& run : baseline->runs) {
    text += fmt::format("run {}: {}, version {}, commit {}, {} benchmarks\n", printable(run.id),
                        printable(run.started_at), printable(run.version),
                        run.git.commit.empty() ? "unknown" : printable(run.git.commit),
                        run.benchmarks.size());
  }
  return text;
}

Result<std::string> remove(const BaselineFlags& flags) {
  auto history = open_store(flags.store, store::Access::write);
  if (!history) return fail_from(history);
  if (auto removed = history->remove_baseline(flags.id); !removed) return fail_from(removed);
  return fmt::format("baseline '{}' is deleted\n", flags.id);
}

Result<std::string> export_to_file(const BaselineFlags& flags) {
  auto history = open_store(flags.store, store::Access::read);
  if (!history) return fail_from(history);
  const auto baseline = history->baseline(flags.id);
  if (!baseline) return fail_from(baseline);
  const auto text = to_json_text(*baseline);
  if (flags.path.empty()) return text;
  if (auto written = write_file_atomically(flags.path, text); !written) return fail_from(written);
  return fmt::format("{}\n", flags.path);
}

Result<std::string> import_from_file(const BaselineFlags& flags) {
  const auto text = read_file(flags.path);
  if (!text) return fail_from(text);
  auto baseline = baseline_from_json_text(*text);
  if (!baseline) return fail_from(baseline, flags.path);
  if (!flags.id.empty()) baseline->id = flags.id;
  auto history = open_store(flags.store, store::Access::write);
  if (!history) return fail_from(history);
  if (auto created = history->create(*baseline); !created) return fail_from(created);
  return fmt::format("baseline '{}' of {} runs is in {}\n", baseline->id, baseline->runs.size(),
                     history->name());
}

struct Action {
  const char* name;
  const char* what;
  Result<std::string> (*run)(const BaselineFlags&);
  bool takes_id;
};

constexpr Action kActions[] = {
    {"create", "pool runs under a name", create, true},
    {"update", "add runs, or change description and tags", update, true},
    {"list", "all baselines of the store", list, false},
    {"show", "one baseline and its runs", show, true},
    {"delete", "remove a baseline", remove, true},
    {"export", "write a baseline to a file", export_to_file, true},
    {"import", "read a baseline from a file", import_from_file, false},
};

void add_flags_of(CLI::App& app, const std::string& action, BaselineFlags& flags) {
  if (action == "create" || action == "update") {
    app.add_option("--description", flags.description, "what it is");
    app.add_option("--tags", flags.tags, "words to find it by")->delimiter(',');
    auto* runs = app.add_option("--run,--runs,--input", flags.runs,
                                "records, baseline files, or ids of runs in the store")
                     ->delimiter(',');
    if (action == "create") runs->required();
    if (action == "update")
      app.add_flag("--replace", flags.replace, "the new runs instead of the old ones");
  }
  if (action == "list" || action == "show")
    app.add_option("--format", flags.format, "human or json")
        ->check(CLI::IsMember({"human", "json"}));
  if (action == "export") app.add_option("--output", flags.path, "where it goes");
  if (action == "import") {
    app.add_option("FILE", flags.path, "a file written by export")->required();
    app.add_option("--id", flags.id, "another name for it");
  }
}

}  // namespace

int run_baseline(const Arguments& arguments) {
  CLI::App app("Pools of runs to compare later runs with", "baseline");
  app.require_subcommand(1);
  BaselineFlags flags;
  for (const auto& action : kActions) {
    auto* command = app.add_subcommand(action.name, action.what);
    if (action.takes_id) command->add_option("ID", flags.id, "its name")->required();
    add_flags_of(*command, action.name, flags);
    add_store_option(*command, flags.store);
  }
  if (const auto over = parse(app, arguments)) return *over;
  for (const auto& action : kActions) {
    if (!app.got_subcommand(action.name)) continue;
    const auto text = action.run(flags);
    if (!text) return report_error(text.error());
    const auto printed = print(*text);
    return printed ? kFine : report_error(printed.error());
  }
  return kBadInput;
}

}  // namespace trilobite::cli
