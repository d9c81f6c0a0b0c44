// https://slurm.schedmd.com/srun.html,
// https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html and the options of MPICH's
// hydra.
#include "capture/launch/job_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "capture/launch/host_list.h"
#include "capture/launch/options.h"
#include "capture/launch/slurm_options.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

OptionTable MpiOptions(const std::string& launcher) {
  OptionTable table;
  table.launcher = launcher;
  table.one_dash = true;
  table.prefixes = false;
  for (const char* option : {"-np|-n|-c",
                             "-npernode|-N|-ppn|-perhost|-ppr",
                             "-map-by",
                             "-host|-H|-hosts",
                             "-hostfile|-machinefile|-f",
                             "-x",
                             "-genv-list|-genvlist",
                             "-envlist",
                             "-wdir|-wd",
                             "-bind-to",
                             "-rank-by",
                             "-rankfile|-rf",
                             "-output-filename",
                             "-path",
                             "-prefix",
                             "-tune",
                             "-am",
                             "-timeout",
                             "-stdin",
                             "-cpus-per-proc",
                             "-cpus-per-rank",
                             "-cpu-set",
                             "-cpu-list",
                             "-personality",
                             "-output",
                             "-mca-base-env-list",
                             "-npersocket",
                             "-launch-agent",
                             "-bootstrap",
                             "-launcher",
                             "-iface",
                             "-rmk",
                             "-outfile-pattern",
                             "-errfile-pattern",
                             "-max-restarts",
                             "-dvm",
                             "-runtime-options",
                             "-pmixmca"}) {
    table.options.push_back({option});
  }
  for (const char* option : {"-mca", "-gmca", "-prtemca", "-genv", "-env", "-set"}) {
    table.options.push_back({option, 2});
  }
  for (const char* flag : {"-allow-run-as-root",
                           "-oversubscribe",
                           "-nooversubscribe",
                           "-tag-output",
                           "-timestamp-output",
                           "-merge-stderr-to-stdout",
                           "-display-map",
                           "-display-allocation",
                           "-display-devel-map",
                           "-report-bindings",
                           "-report-child-jobs-separately",
                           "-quiet|-q",
                           "-verbose|-v",
                           "-bynode",
                           "-byslot",
                           "-bycore",
                           "-bysocket",
                           "-bind-to-none",
                           "-bind-to-core",
                           "-bind-to-socket",
                           "-nolocal",
                           "-enable-recovery",
                           "-disable-recovery",
                           "-continuous",
                           "-pernode",
                           "-do-not-launch",
                           "-leave-session-attached",
                           "-novm",
                           "-xml",
                           "-use-hwthread-cpus",
                           "-genvall",
                           "-genvnone",
                           "-envall",
                           "-envnone",
                           "-l",
                           "-prepend-rank",
                           "-print-all-exitcodes",
                           "-print-rank-map",
                           "-help|-h",
                           "-version|-V",
                           "-stream-buffering",
                           "-debug",
                           "-forward-signals",
                           "-get-stack-traces"}) {
    table.options.push_back({flag, 0});
  }
  return table;
}

int TasksOfVariable(const Variables& environment, const std::string& name) {
  const std::string value = ValueOf(environment, name);
  return value.empty() ? 0 : std::atoi(value.c_str());
}

Result<StepCommand> ReadSrun(const Call& call, const ClusterSize& cluster) {
  ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(SlurmOptions("srun"), call.words, 1));
  if (options.Has("--multi-prog")) {
    return Error("srun: --multi-prog starts several programs; a capture follows one");
  }
  if (options.rest >= call.words.size()) return Error("srun: it names no command to start");
  ASSIGN_OR_RETURN(SlurmCounts counts, CountsOf(options, "srun"));
  // What the command line leaves open is the job's, which the script's #SBATCH or the user's
  // environment state.
  const Variables& job = call.environment;
  const auto fill = [&](std::optional<int>* count, const char* variable) {
    if (!*count && TasksOfVariable(job, variable) > 0) *count = TasksOfVariable(job, variable);
  };
  fill(&counts.nodes, "SLURM_NNODES");
  fill(&counts.per_node, "SLURM_NTASKS_PER_NODE");
  if (!options.Has("--nodes") && !options.Has("--ntasks-per-node")) {
    fill(&counts.tasks, "SLURM_NTASKS");
  }
  if (!counts.nodes && options.Has("--nodelist")) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names,
                     ExpandHostNames(options.Value("--nodelist")));
    counts.nodes = static_cast<int>(names.size());
  }
  StepCommand command;
  command.step.launcher = "srun";
  if (counts.tasks) {
    // --ntasks-per-node is the most tasks of a host, then.
    const int most = counts.per_node.value_or(cluster.gpus_per_host);
    if (!counts.nodes) counts.nodes = (*counts.tasks + most - 1) / most;
    // A step of fewer tasks than the job has hosts uses only some of them.
    if (!options.Has("--nodes")) counts.nodes = std::min(*counts.nodes, *counts.tasks);
    if (*counts.tasks % *counts.nodes != 0) {
      return Error(fmt::format("srun: {} do not divide evenly over {}",
                               Plural(*counts.tasks, "task"), Plural(*counts.nodes, "host")));
    }
    command.step.tasks_per_host = *counts.tasks / *counts.nodes;
  } else if (counts.per_node) {
    command.step.tasks_per_host = *counts.per_node;
  }
  command.step.hosts = counts.nodes.value_or(1);
  command.folder = options.Value("--chdir");
  command.command.assign(call.words.begin() + static_cast<std::ptrdiff_t>(options.rest),
                         call.words.end());
  return command;
}

// "--map-by ppr:8:node" is 8 tasks on each host.
Result<std::optional<int>> TasksOfMapping(const std::string& launcher, const std::string& mapping) {
  if (!mapping.starts_with("ppr:")) return std::optional<int>();
  const size_t colon = mapping.find(':', 4);
  const std::string unit = colon == std::string::npos ? "" : mapping.substr(colon + 1);
  if (!unit.starts_with("node")) {
    return Error(fmt::format("{}: --map-by {} places ranks inside a host; write ppr:N:node",
                             launcher, mapping));
  }
  return OptionalNumber(launcher, "--map-by ppr", mapping.substr(4, colon - 4), kMostTasksPerHost);
}

Result<std::vector<ListedHost>> HostsOfMpi(const ParsedOptions& options, const Call& call) {
  if (options.Has("-hostfile")) return ReadHostFile(options.Value("-hostfile"), call.folder);
  std::vector<ListedHost> hosts;
  std::istringstream items(options.Value("-host"));
  for (std::string item; std::getline(items, item, ',');) {
    const size_t colon = item.find(':');
    ListedHost host{item.substr(0, colon), 0};
    if (colon != std::string::npos) {
      ASSIGN_OR_RETURN(host.slots, PositiveNumber(options.launcher + ": --host",
                                                  item.substr(colon + 1), kMostTasksPerHost));
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

Result<StepCommand> ReadMpi(const Call& call, const ClusterSize& cluster) {
  const std::string launcher = BaseName(call.words.front());
  ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(MpiOptions(launcher), call.words, 1));
  if (options.rest >= call.words.size()) return Error(launcher + ": it names no command to start");
  for (size_t i = options.rest; i < call.words.size(); ++i) {
    if (call.words[i] == ":") {
      return Error(launcher + ": it starts several programs (':'); a capture follows one");
    }
  }
  ASSIGN_OR_RETURN(const std::vector<ListedHost> hosts, HostsOfMpi(options, call));
  std::optional<int> tasks, per_node;
  if (options.Has("-np")) {
    ASSIGN_OR_RETURN(const int number, PositiveNumber(launcher + ": -np", options.Value("-np")));
    tasks = number;
  }
  if (options.Has("-npernode")) {
    ASSIGN_OR_RETURN(
        const int number,
        PositiveNumber(launcher + ": -npernode", options.Value("-npernode"), kMostTasksPerHost));
    per_node = number;
  }
  if (options.Has("-pernode")) per_node = 1;
  ASSIGN_OR_RETURN(const std::optional<int> mapped,
                   TasksOfMapping(launcher, options.Value("-map-by")));
  if (mapped) per_node = mapped;
  if (!per_node && !hosts.empty()) {
    per_node = hosts.front().slots > 0 ? hosts.front().slots : cluster.gpus_per_host;
    for (const ListedHost& host : hosts) {
      if (host.slots == hosts.front().slots) continue;
      return Error(
          fmt::format("{}: host '{}' has {} slots and host '{}' {}; a capture needs the "
                      "same number on each",
                      launcher, hosts.front().name, hosts.front().slots, host.name, host.slots));
    }
  }
  const int most = per_node.value_or(cluster.gpus_per_host);
  if (!tasks) {
    if (hosts.empty()) {
      return Error(launcher +
                   ": it says neither how many ranks it starts (-np) nor on which hosts");
    }
    tasks = static_cast<int>(hosts.size()) * most;
  }
  StepCommand command;
  command.step.launcher = launcher;
  command.step.hosts = (*tasks + most - 1) / most;
  if (*tasks % command.step.hosts != 0) {
    return Error(fmt::format("{}: {} do not divide evenly over {}", launcher,
                             Plural(*tasks, "rank"), Plural(command.step.hosts, "host")));
  }
  command.step.tasks_per_host = *tasks / command.step.hosts;
  if (!hosts.empty() && command.step.hosts > static_cast<int>(hosts.size())) {
    return Error(fmt::format("{}: {} need {}, but it names {}", launcher, Plural(*tasks, "rank"),
                             Plural(command.step.hosts, "host"), hosts.size()));
  }
  command.folder = options.Value("-wdir");
  for (const GivenOption& option : options.given) {
    if (option.name == "-x" || option.name == "-genv" || option.name == "-env") {
      const std::string& first = option.values.front();
      const size_t equals = first.find('=');
      if (option.values.size() == 2) {
        Set(&command.environment, first, option.values.back());
      } else if (equals != std::string::npos) {
        Set(&command.environment, first.substr(0, equals), first.substr(equals + 1));
      }
    }
  }
  command.command.assign(call.words.begin() + static_cast<std::ptrdiff_t>(options.rest),
                         call.words.end());
  return command;
}

}  // namespace

bool IsStepLauncher(const std::string& program) {
  const std::string name = BaseName(program);
  for (const char* known : {"srun", "mpirun", "mpiexec", "orterun", "mpiexec.hydra", "prterun",
                            "mpirun.mpich", "mpirun.openmpi"}) {
    if (name == known) return true;
  }
  return false;
}

Result<StepCommand> ReadStep(const Call& call, const ClusterSize& cluster) {
  return BaseName(call.words.front()) == "srun" ? ReadSrun(call, cluster) : ReadMpi(call, cluster);
}

std::vector<std::pair<std::string, RankNumber>> NumbersOfStep(const std::string& launcher) {
  if (launcher == "srun") {
    return {{"SLURM_PROCID", RankNumber::kRank},
            {"SLURM_LOCALID", RankNumber::kLocalRank},
            {"SLURM_NODEID", RankNumber::kHost}};
  }
  return {{"OMPI_COMM_WORLD_RANK", RankNumber::kRank},
          {"OMPI_COMM_WORLD_LOCAL_RANK", RankNumber::kLocalRank},
          {"OMPI_COMM_WORLD_NODE_RANK", RankNumber::kLocalRank},
          {"PMIX_RANK", RankNumber::kRank},
          {"PMI_RANK", RankNumber::kRank},
          {"MPI_LOCALRANKID", RankNumber::kLocalRank}};
}

Variables VariablesOfStep(const JobStep& step, int task) {
  const auto text = [](int number) { return std::to_string(number); };
  const int host = task / step.tasks_per_host;
  Variables variables;
  if (step.launcher == "srun") {
    const std::string per_host = step.hosts == 1
                                     ? text(step.tasks_per_host)
                                     : fmt::format("{}(x{})", step.tasks_per_host, step.hosts);
    const std::string names = Join(JobHostNames(step.hosts), ",");
    variables = {{"SLURM_JOB_ID", "1"},
                 {"SLURM_JOBID", "1"},
                 {"SLURM_STEP_ID", "0"},
                 {"SLURM_STEPID", "0"},
                 {"SLURM_NTASKS", text(step.tasks())},
                 {"SLURM_NPROCS", text(step.tasks())},
                 {"SLURM_STEP_NUM_TASKS", text(step.tasks())},
                 {"SLURM_NNODES", text(step.hosts)},
                 {"SLURM_JOB_NUM_NODES", text(step.hosts)},
                 {"SLURM_STEP_NUM_NODES", text(step.hosts)},
                 {"SLURM_NTASKS_PER_NODE", text(step.tasks_per_host)},
                 {"SLURM_TASKS_PER_NODE", per_host},
                 {"SLURM_STEP_TASKS_PER_NODE", per_host},
                 {"SLURM_JOB_NODELIST", names},
                 {"SLURM_NODELIST", names},
                 {"SLURM_STEP_NODELIST", names},
                 {"SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"},
                 {"SLURM_SRUN_COMM_HOST", "127.0.0.1"},
                 {"SLURMD_NODENAME", fmt::format("node{}", host)}};
  } else {
    variables = {{"OMPI_COMM_WORLD_SIZE", text(step.tasks())},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", text(step.tasks_per_host)},
                 {"OMPI_UNIVERSE_SIZE", text(step.tasks())},
                 {"PMI_SIZE", text(step.tasks())},
                 {"MPI_LOCALNRANKS", text(step.tasks_per_host)}};
  }
  for (const auto& [name, number] : NumbersOfStep(step.launcher)) {
    variables.emplace_back(name,
                           text(number == RankNumber::kRank        ? task
                                : number == RankNumber::kLocalRank ? task % step.tasks_per_host
                                                                   : host));
  }
  return variables;
}

void SetStepVariables(const JobStep& step, Launch* launch) {
  for (const auto& [name, value] : VariablesOfStep(step, 0)) {
    Set(&launch->environment, name, value);
  }
  for (const auto& number : NumbersOfStep(step.launcher)) launch->rank_variables.push_back(number);
  if (step.launcher == "srun")
    launch->rank_variables.emplace_back("SLURM_GTIDS", RankNumber::kRank);
}

}  // namespace drydock::capture
