#pragma once
// One function per subcommand; main.cpp has the table.

#include "cli/command_line.hpp"
#include "cli/measure_run.hpp"

namespace trilobite::cli {

int run_ab(const Arguments& arguments);
int run_baseline(const Arguments& arguments);
int run_ci(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_crossval(const Arguments& arguments);
int run_devices(const Arguments& arguments);
int run_embed(const Arguments& arguments);
int run_env(const Arguments& arguments);
int run_fixtures(const Arguments& arguments);
int run_generate(const Arguments& arguments);
int run_inference(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_logits(const Arguments& arguments);
int run_perplexity(const Arguments& arguments);
int run_quantize(const Arguments& arguments);
int run_regression_check(const Arguments& arguments);
int run_monitor(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_self_test(const Arguments& arguments);
int run_targets(const Arguments& arguments);
int run_tokenize(const Arguments& arguments);
int run_trend(const Arguments& arguments);

/// What `trilobite` knows beyond the lab: its devices and their instruction sets.
ProgramFacts engine_facts();

}  // namespace trilobite::cli
