// The main() of programs with their own benchmarks (TRILOBITE_BENCH_MAIN).

#include "cli/bench_command.hpp"
#include "harness/step_server.hpp"
#include "measure/allocation_count.hpp"
#include "trilobite/bench.hpp"

namespace trilobite {

int bench_main(int argc, char** argv) {
  if (step_protocol_is_wanted()) return serve_steps_on_standard_streams(registered_benchmarks());
  use_counting_malloc();
  const std::vector<std::string> command_line(argv, argv + argc);
  const std::vector<std::string> words(command_line.begin() + (argc > 0 ? 1 : 0),
                                       command_line.end());
  return cli::run_bench({words, command_line}, cli::ProgramFacts());
}

}  // namespace trilobite
