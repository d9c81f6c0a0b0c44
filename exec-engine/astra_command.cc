// exec-engine astra: a whole workload of ASTRA-sim over its own network.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/schema/foreign/astra_files.h"
#include "exec-engine/astra/astra_replay.h"
#include "exec-engine/commands.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "exec-engine astra", "How long a workload of ASTRA-sim takes over its analytical network.",
    "reads PREFIX.<npu>.et, network.yml, system.json and groups.json; prints nanoseconds by NPU",
    "exec-engine astra traces/gpt --astra-network network.yml --astra-system system.json", false};

struct Options {
  std::string prefix, network, system, groups;
};

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("prefix", options->prefix, "The traces are PREFIX.0.et, PREFIX.1.et, ...")
      ->type_name("PREFIX");
  app->add_option("--astra-network", options->network, "ASTRA-sim's network (YAML)")
      ->type_name("FILE");
  app->add_option("--astra-system", options->system, "ASTRA-sim's system (JSON)")
      ->type_name("FILE");
  app->add_option("--groups", options->groups, "ASTRA-sim's groups (JSON)")->type_name("FILE");
  CheckOptions(app, [options]() -> Status {
    if (options->prefix.empty()) return MissingOption("PREFIX");
    if (options->network.empty()) return MissingOption("--astra-network");
    if (options->system.empty()) return MissingOption("--astra-system");
    return OkStatus();
  });
}

int64_t Ns(Time time) { return time.ps() / 1000; }

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const std::string network_text, ReadFile(options.network));
  ASSIGN_OR_RETURN(const DimensionNetwork network,
                   ParseAstraNetwork(network_text, options.network));
  ASSIGN_OR_RETURN(const std::string system_text, ReadFile(options.system));
  ASSIGN_OR_RETURN(const CollectiveSystem system,
                   ParseAstraSystem(system_text, options.system, network));
  ASSIGN_OR_RETURN(const AstraWorkload workload,
                   ReadAstraWorkload(options.prefix, options.groups, network, system));
  if (common.check) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<AstraNpuTimes> times, ReplayAstra(workload, network, system));
  if (times.size() == 1 && network.npus() > 1) {
    Report(kInfo, common,
           fmt::format("the {} NPUs do the same; NPU 0 stands for all", network.npus()));
  }
  Time end;
  fmt::print("npu,end_ns,compute_ns,exposed_communication_ns\n");
  for (size_t npu = 0; npu < times.size(); ++npu) {
    const AstraNpuTimes& t = times[npu];
    end = std::max(end, t.end);
    fmt::print("{},{},{},{}\n", npu, Ns(t.end), Ns(t.compute), Ns(t.exposed));
  }
  Report(kInfo, common, fmt::format("{} ns", Ns(end)));
  return OkStatus();
}

std::string Subject(const Options& options) { return options.prefix; }

}  // namespace

std::unique_ptr<Command> MakeAstraCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
