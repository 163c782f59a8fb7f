#pragma once
// `bench`: the command line of `trilobite bench` and of every program with its own benchmarks.

#include "cli/command_line.hpp"
#include "cli/measure_run.hpp"

namespace trilobite::cli {

int run_bench(const Arguments& arguments, const ProgramFacts& program);

}  // namespace trilobite::cli
