// torchrun, python -m torch.distributed.run and torch.distributed.launch:
// https://docs.pytorch.org/docs/stable/elastic/run.html, with the options of PyTorch 1.9 to 2.11.
#include <fmt/format.h>

#include "capture/launch/launchers.h"
#include "capture/launch/options.h"
#include "capture/launch/python_command.h"

namespace drydock::capture {
namespace {

OptionTable Options(bool passes_local_rank) {
  OptionTable table;
  table.launcher = passes_local_rank ? "torch.distributed.launch" : "torchrun";
  table.underscores = true;
  table.dash_values = false;
  table.options = {
      {"--nnodes"},
      {"--nproc-per-node"},
      {"--module|-m", 0},
      {"--no-python", 0},
      {"--run-path", 0},
      // Where and how the ranks meet, are started again and write their logs: nothing of it changes
      // what a rank does.
      {"--node-rank"},
      {"--master-addr"},
      {"--master-port"},
      {"--local-addr"},
      {"--rdzv-backend"},
      {"--rdzv-endpoint"},
      {"--rdzv-id"},
      {"--rdzv-conf"},
      {"--standalone", 0},
      {"--max-restarts"},
      {"--monitor-interval"},
      {"--start-method"},
      {"--event-log-handler"},
      {"--role"},
      {"--log-dir"},
      {"--redirects|-r"},
      {"--tee|-t"},
      {"--local-ranks-filter"},
      {"--logs-specs"},
      {"--numa-binding"},
      {"--signals-to-handle"},
      {"--shutdown-timeout"},
      {"--virtual-local-rank", 0},
      {"--duplicate-stdout-filters"},
      {"--duplicate-stderr-filters"},
      {"--help|-h", 0},
  };
  if (passes_local_rank) {
    table.options.push_back({"--use-env", 0});
    table.options.push_back({"--logdir"});
  }
  return table;
}

// The value of an option, or of the variable that torchrun reads in its place.
std::string ValueOr(const ParsedOptions& options, const std::string& option,
                    const Variables& environment, const std::string& variable,
                    const std::string& otherwise) {
  if (options.Has(option)) return options.Value(option);
  return Has(environment, variable) ? ValueOf(environment, variable) : otherwise;
}

Result<int> HostsOf(const std::string& what, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return PositiveNumber(what, text, kMaxHosts);
  ASSIGN_OR_RETURN(const int least, PositiveNumber(what, text.substr(0, colon), kMaxHosts));
  ASSIGN_OR_RETURN(const int most, PositiveNumber(what, text.substr(colon + 1), kMaxHosts));
  if (least == most) return most;
  return Error(
      fmt::format("{} {} leaves the number of hosts open; write the number that trains: {} or {}",
                  what, text, least, most));
}

Result<int> RanksPerHost(const std::string& what, const std::string& text,
                         const ClusterSize& cluster) {
  if (text == "gpu" || text == "auto") return cluster.gpus_per_host;
  if (text == "cpu")
    return Error(what + " cpu starts a rank for each core; write a number, or gpu");
  return PositiveNumber(what, text, kMaxGpus);
}

}  // namespace

Result<Launch> ReadTorchrun(const LauncherWords& words, const ClusterSize& cluster,
                            bool passes_local_rank) {
  const Call& call = words.call;
  const OptionTable table = Options(passes_local_rank);
  ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(table, call.words, words.arguments));
  const std::string& name = table.launcher;
  if (options.Has("--help")) return Error(name + ": --help starts no program");
  if (options.rest >= call.words.size()) {
    return Error(name + ": it names no program to start" + SuspectedValue(options.given));
  }
  const Variables& environment = call.environment;
  Launch launch;
  launch.launcher = name;
  launch.folder = call.folder;
  launch.environment = environment;
  ASSIGN_OR_RETURN(
      launch.hosts,
      HostsOf(name + ": --nnodes", ValueOr(options, "--nnodes", environment, "PET_NNODES", "1")));
  ASSIGN_OR_RETURN(
      launch.ranks_per_host,
      RanksPerHost(name + ": --nproc-per-node",
                   ValueOr(options, "--nproc-per-node", environment, "PET_NPROC_PER_NODE", "1"),
                   cluster));
  const auto flag = [&](const char* option, const char* variable) {
    const std::string value = ValueOf(environment, variable);
    return options.Has(option) || (!value.empty() && value != "0");
  };
  const std::string& program = call.words[options.rest];
  if (flag("--no-python", "PET_NO_PYTHON")) {
    if (!IsPython(program)) {
      return Error(fmt::format(
          "{}: --no-python starts '{}' for each rank, which is not Python; write the command of "
          "Python that it starts, behind the launcher",
          name, program));
    }
  } else {
    const std::string python = ValueOf(environment, "PYTHON_EXEC");
    launch.command = {python.empty() ? words.python : python, "-u"};
    if (flag("--module", "PET_MODULE")) launch.command.push_back("-m");
  }
  launch.command.push_back(program);
  if (passes_local_rank && !options.Has("--use-env")) {
    launch.rank_words.push_back(
        {launch.command.size(), "--local-rank=", RankNumber::kLocalRank, ""});
    launch.command.push_back("--local-rank=0");
  }
  launch.command.insert(launch.command.end(),
                        call.words.begin() + static_cast<std::ptrdiff_t>(options.rest) + 1,
                        call.words.end());
  if (!Has(environment, "OMP_NUM_THREADS") && launch.ranks_per_host > 1) {
    Set(&launch.environment, "OMP_NUM_THREADS", "1");
  }
  return launch;
}

}  // namespace drydock::capture
