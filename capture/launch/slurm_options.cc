#include "capture/launch/slurm_options.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

namespace drydock::capture {
namespace {

// The number of hosts of --nodes: "4", "4-4", not "2-4".
Result<std::optional<int>> Nodes(const std::string& launcher, const std::string& text) {
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return OptionalNumber(launcher, "--nodes", text, kMaxHosts);
  if (text.substr(0, dash) == text.substr(dash + 1)) {
    return OptionalNumber(launcher, "--nodes", text.substr(0, dash), kMaxHosts);
  }
  return Error(
      fmt::format("{}: --nodes {} leaves the number of hosts open; write the number that "
                  "trains",
                  launcher, text));
}

}  // namespace

// Of srun, sbatch and salloc alike. Only the first decide who runs where.
OptionTable SlurmOptions(const std::string& launcher) {
  OptionTable table;
  table.launcher = launcher;
  for (const char* option : {"--nodes|-N",
                             "--ntasks|-n",
                             "--ntasks-per-node|--tasks-per-node",
                             "--gpus-per-node",
                             "--gpus|-G",
                             "--gres",
                             "--gpus-per-task",
                             "--ntasks-per-gpu",
                             "--cpus-per-task|-c",
                             "--nodelist|-w",
                             "--chdir|-D",
                             "--export",
                             "--array|-a",
                             "--accel-bind",
                             "--account|-A",
                             "--acctg-freq",
                             "--bcast-exclude",
                             "--het-group|--pack-group",
                             "--send-libs",
                             "--treewidth",
                             "--tres-per-job",
                             "--batch",
                             "--bb",
                             "--bbf",
                             "--bcast",
                             "--begin",
                             "--bell",
                             "--burst-buffer",
                             "--cluster-constraint",
                             "--clusters|-M",
                             "--comment",
                             "--compress",
                             "--constraint|-C",
                             "--container",
                             "--container-id",
                             "--container-image",
                             "--container-mounts",
                             "--container-name",
                             "--container-save",
                             "--container-workdir",
                             "--container-env",
                             "--core-spec|-S",
                             "--cores-per-socket",
                             "--cpu-bind|--cpu_bind",
                             "--cpu-freq",
                             "--cpus-per-gpu",
                             "--deadline",
                             "--delay-boot",
                             "--dependency|-d",
                             "--distribution|-m",
                             "--epilog",
                             "--error|-e",
                             "--exclude|-x",
                             "--export-file",
                             "--extra",
                             "--extra-node-info|-B",
                             "--gid",
                             "--gpu-bind",
                             "--gpu-freq",
                             "--gpus-per-socket",
                             "--gres-flags",
                             "--hint",
                             "--input|-i",
                             "--jobid",
                             "--job-name|-J",
                             "--licenses|-L",
                             "--mail-type",
                             "--mail-user",
                             "--max-threads",
                             "--mcs-label",
                             "--mem",
                             "--mem-bind|--mem_bind",
                             "--mem-per-cpu",
                             "--mem-per-gpu",
                             "--mincpus",
                             "--mpi",
                             "--msg-timeout",
                             "--network",
                             "--nodefile|-F",
                             "--ntasks-per-core",
                             "--ntasks-per-socket",
                             "--open-mode",
                             "--output|-o",
                             "--partition|-p",
                             "--power",
                             "--prefer",
                             "--priority",
                             "--profile",
                             "--prolog",
                             "--qos|-q",
                             "--reboot",
                             "--relative|-r",
                             "--reservation",
                             "--segment",
                             "--signal",
                             "--slurmd-debug",
                             "--sockets-per-node",
                             "--switches",
                             "--task-epilog",
                             "--task-prolog",
                             "--thread-spec",
                             "--threads-per-core",
                             "--threads|-T",
                             "--time|-t",
                             "--time-min",
                             "--tmp",
                             "--tres-bind",
                             "--tres-per-task",
                             "--uid",
                             "--wait-all-nodes",
                             "--wckey",
                             "--wrap",
                             "--environment"}) {
    table.options.push_back({option});
  }
  // srun's --wait takes seconds, sbatch's none.
  table.options.push_back({"--wait|-W", launcher == "srun" ? 1 : 0});
  for (const char* optional :
       {"--exclusive", "--get-user-env", "--immediate|-I", "--kill-on-bad-exit|-K",
        "--kill-on-invalid-dep", "--nice", "--propagate", "--resv-ports", "--stepmgr",
        "--container-remap-root", "--no-container-remap-root", "--container-mount-home",
        "--no-container-mount-home", "--container-entrypoint", "--no-container-entrypoint",
        "--container-writable", "--container-readonly", "--container-entrypoint-log"}) {
    table.options.push_back({optional, LauncherOption::kOptional});
  }
  for (const char* flag : {"--contiguous",
                           "--disable-status|-X",
                           "--exact",
                           "--external-launcher",
                           "--hold|-H",
                           "--ignore-pbs",
                           "--interactive",
                           "--label|-l",
                           "--multi-prog",
                           "--no-allocate|-Z",
                           "--no-kill|-k",
                           "--no-requeue",
                           "--oversubscribe|-s",
                           "--share",
                           "--overcommit|-O",
                           "--overlap",
                           "--parsable",
                           "--preserve-env|-E",
                           "--pty",
                           "--quiet|-Q",
                           "--quit-on-interrupt",
                           "--requeue",
                           "--spread-job",
                           "--test-only",
                           "--unbuffered|-u",
                           "--use-min-nodes",
                           "--verbose|-v",
                           "--whole",
                           "--help|-h",
                           "--usage",
                           "--version|-V"}) {
    table.options.push_back({flag, 0});
  }
  return table;
}

Result<std::optional<int>> OptionalNumber(const std::string& launcher, const std::string& option,
                                          const std::string& text, int most) {
  if (text.empty()) return std::optional<int>();
  ASSIGN_OR_RETURN(const int number, PositiveNumber(launcher + ": " + option, text, most));
  return std::optional<int>(number);
}

Result<SlurmCounts> CountsOf(const ParsedOptions& options, const std::string& launcher) {
  SlurmCounts counts;
  ASSIGN_OR_RETURN(counts.nodes, Nodes(launcher, options.Value("--nodes")));
  for (const auto& [name, out] :
       {std::pair{"--ntasks", &counts.tasks}, {"--ntasks-per-node", &counts.per_node}}) {
    if (!options.Has(name)) continue;
    const int most = out == &counts.tasks ? kMaxHosts * kMaxGpus : kMostTasksPerHost;
    ASSIGN_OR_RETURN(const int number,
                     PositiveNumber(launcher + ": " + name, options.Value(name), most));
    *out = number;
  }
  const auto gpus_in = [](const std::string& text) {  // "8", "h100:8", "gpu:h100:8"
    const size_t colon = text.rfind(':');
    return colon == std::string::npos ? text : text.substr(colon + 1);
  };
  std::string per_node = gpus_in(options.Value("--gpus-per-node"));
  std::istringstream resources(options.Value("--gres"));
  for (std::string resource; std::getline(resources, resource, ',');) {
    if (resource.starts_with("gpu:")) per_node = gpus_in(resource);
    if (resource == "gpu") per_node = "1";
  }
  ASSIGN_OR_RETURN(counts.gpus_per_node,
                   OptionalNumber(launcher, "--gpus-per-node", per_node, kMaxGpus));
  ASSIGN_OR_RETURN(counts.gpus, OptionalNumber(launcher, "--gpus", gpus_in(options.Value("--gpus")),
                                               kMaxHosts * kMaxGpus));
  return counts;
}

}  // namespace drydock::capture
