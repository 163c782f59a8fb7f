#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/thread_pool.hpp"
#include "cli/exit_code.hpp"
#include "cli/run_options.hpp"
#include "cli/subcommands.hpp"
#include "cli/tensor_type_flag.hpp"
#include "fixtures/make_fixture.hpp"
#include "report/human_units.hpp"

namespace trilobite::cli {
namespace {

std::string sizes_help() {
  std::string text = "sizes:\n";
  for (const auto architecture : modelfile::kArchitectures)
    text += fmt::format("  {:<13} {}\n", architecture, fixtures::sizes_of(architecture));
  return text +
         "`bitnet` is the older form that llama.cpp also runs (SiLU), `bitnet-b1.58` the one of "
         "BitNet b1.58 2B-4T (squared ReLU).";
}

}  // namespace

int run_fixtures(const Arguments& arguments) {
  CLI::App app("Makes a GGUF model of true shape with random weights and its own tokenizer",
               "fixtures");
  fixtures::FixtureRequest request;
  std::string folder = ".";
  std::string seed;
  TensorTypeFlag type;
  TensorTypeFlag head;
  TensorTypeFlag embedding;
  app.add_option("--size", request.size, "tiny, small, medium, 2b, ... (default: tiny)");
  app.add_option("--arch", request.architecture,
                 "the architecture that the file names (default: bitnet-b1.58)");
  app.add_option("--output", folder, "the folder to write to (default: this one)");
  app.add_option("--seed", seed, "of the random weights (default: BITNET_SEED, else 42)");
  type.add_to(app, "--type", "of the linear layers (default: as the shape is usually shipped)");
  head.add_to(app, "--head", "of the output head, which may be the embedding as well");
  embedding.add_to(app, "--embedding", "of the token embedding");
  app.footer(sizes_help());
  if (const auto over = parse(app, arguments)) return *over;
  const auto chosen_seed = seed_from(seed, request.seed);
  if (!chosen_seed) return report_error(chosen_seed.error());
  request.seed = *chosen_seed;
  request.type = type.value();
  request.head = head.value();
  request.embedding = embedding.value();
  ThreadPool pool(usable_cpus());
  const auto fixture = fixtures::make_fixture(request, folder, pool);
  if (!fixture) return report_error(fixture.error());
  const auto printed =
      print(fmt::format("{}: {} parameters, {}\n", fixture->path.string(), fixture->parameters,
                        human_bytes(static_cast<double>(fixture->bytes))));
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
