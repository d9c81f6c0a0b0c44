// drydock-capture --cluster CLUSTER -o RUN -- PROGRAM ...: finds out what a command would launch on
// the cluster, runs it without GPUs, and writes what its ranks do as RUN/1-workload/. This file
// only parses flags and reports; the library does the work.
#include "capture/command/capture_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "capture/classes/capture_program.h"
#include "capture/command/parts.h"
#include "capture/command/python_choice.h"
#include "capture/command/rank_program.h"
#include "capture/command/setup.h"
#include "capture/environment/environment.h"
#include "capture/intercept/find_launch.h"
#include "capture/intercept/rank_launches.h"
#include "capture/launch/launchers.h"
#include "capture/launch/options.h"
#include "capture/launch/user_variables.h"
#include "capture/launch/words.h"
#include "capture/run/process_facts.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/process.h"
#include "core/base/writable.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock {
namespace {

using capture::FoundLaunches;
using capture::Launch;

const ToolInfo kTool = {
    "drydock-capture",
    "Runs an unmodified training program as the ranks of a cluster, on this machine and without a "
    "GPU, and turns what it does into a workload. If PROGRAM is neither Python nor a launcher, it "
    "is a script, and is executed: stand-ins take the place of the launchers that it calls.",
    "reads cluster.topo (docs/reference/cluster-file.md); runs PROGRAM with the PyTorch of this "
    "machine; writes RUN/1-workload/: manifest.pb, topology.pb and a Chakra trace per rank class "
    "(docs/how-to/capture-a-program.md)",
    "drydock-capture --cluster configs/clusters/dgx-h100-8.topo -o runs/mine -- torchrun "
    "--nnodes 8 --nproc-per-node 8 train.py",
    /*writes_artefact=*/false};

struct Options {
  std::string cluster, run, python, cache, hosts, ranks_per_host;
  std::vector<std::string> overrides, program;
  int iteration = 3, jobs = 0, launch = 0, time_limit = 600, rank_time_limit = 1800;
  bool all_ranks = false, arguments_only = false, json = false, keep_home = false, set_up = false;
  bool run_helpers = false;
};

Status CheckInput(const Options& options, const CommonOptions& common) {
  if (options.set_up) {
    if (options.program.empty() && options.run.empty() && options.cluster.empty() &&
        !options.arguments_only && !options.json) {
      return OkStatus();
    }
    return Error(
        "--setup makes an environment and captures nothing; give only --python or --cache with it");
  }
  if (options.program.empty()) return MissingOption("program (behind --)");
  if (options.json && !options.arguments_only) return Error("--json needs --arguments-only");
  RETURN_IF_ERROR(CheckClusterOverrides(options.overrides));
  if (options.arguments_only) {
    if (!options.cluster.empty() || options.overrides.empty()) return OkStatus();
    return Error("--set needs --cluster");
  }
  if (options.cluster.empty()) return MissingOption("--cluster");
  if (options.run.empty() && !common.check) return MissingOption("-o RUN");
  return OkStatus();
}

void Declare(CLI::App* app, Options* options, const CommonOptions& common) {
  app->add_option(
      "program", options->program,
      "The program behind --: a launcher (torchrun, python -m torch.distributed.run, "
      "deepspeed, accelerate launch, srun, mpirun), Python, or a script that calls them");
  app->add_option("--cluster", options->cluster, "The cluster (cluster.topo)")->type_name("FILE");
  app->add_option("-o,--out", options->run, "Run directory");
  app->add_option("--set", options->overrides,
                  "section.key=value: replaces a value of the cluster; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--python", options->python,
                  "The Python that runs the program (default: the one that the program would use, "
                  "if it has PyTorch with CUDA, else that of --setup)")
      ->type_name("FILE");
  app->add_option("--iteration", options->iteration, "The iteration that becomes the workload")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_flag("--all-ranks", options->all_ranks,
                "Run every rank, not only some of each class, to prove that the others are alike");
  app->add_option("--jobs", options->jobs,
                  "Ranks that run at the same time (default: by cores and memory)")
      ->check(CLI::PositiveNumber);
  app->add_option("--rank-time-limit", options->rank_time_limit, "Seconds that a rank may run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--nnodes", options->hosts,
                  "Hosts of a program that is started by Python alone (default: 1)");
  app->add_option("--nproc-per-node", options->ranks_per_host,
                  "Its ranks on each host; gpu: one for each GPU of a host (default: 1)");
  app->add_option("--launch", options->launch,
                  "Which launch to capture, if a script starts several: 1 is the first")
      ->check(CLI::PositiveNumber);
  app->add_flag("--arguments-only", options->arguments_only,
                "Print what would be launched, as commands for a shell, and run no rank. A script "
                "is executed for that");
  app->add_flag("--json", options->json, "With --arguments-only: one JSON object for each launch");
  app->add_flag("--keep-home", options->keep_home,
                "A script has your HOME; otherwise its HOME is an empty folder of its own");
  app->add_flag(
      "--run-helpers", options->run_helpers,
      "Python that a script starts without a launcher really runs, such as a program that "
      "writes a configuration");
  app->add_option("--time-limit", options->time_limit, "Seconds that a script may run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_flag("--setup", options->set_up,
                "Make an environment with PyTorch and without NVIDIA's libraries, and do nothing "
                "else. Fetches 0.9 GB, which become 1.8 GB");
  app->add_option("--cache", options->cache,
                  "Folder of that environment and of what is made for each PyTorch (default: "
                  "drydock in XDG_CACHE_HOME or ~/.cache)")
      ->type_name("DIR");
  CheckOptions(app, [options, &common] { return CheckInput(*options, common); });
}

std::string CacheOf(const Options& options) {
  return options.cache.empty() ? capture::DefaultCache() : options.cache;
}

capture::Tell Teller(const CommonOptions& common) {
  return [&common](const std::string& line) { Report(kTool, common, line); };
}

Result<capture::CaptureEnvironment> Prepare(const Options& options, const CommonOptions& common,
                                            const capture::Parts& parts,
                                            const std::string& python) {
  return capture::PrepareEnvironment(python, parts.capture, CacheOf(options) + "/environments",
                                     Teller(common));
}

// Runs in a signal handler.
size_t WordsWhenInterrupted(char* text, size_t size) {
  constexpr std::string_view kWords =
      "what has been fetched is kept; 'drydock capture --setup' goes on there";
  return kWords.copy(text, size);
}

Status RunSetUp(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const capture::Parts parts, capture::FindParts());
  std::string python = options.python;
  if (common.check) {
    if (python.empty()) python = capture::SetUpPython(CacheOf(options));
    if (python.empty()) return Error("no environment has been set up", {CacheOf(options), 0, 0});
    return capture::CheckPython(python);
  }
  if (python.empty()) {
    SayWhenInterrupted(kTool.name.c_str(), WordsWhenInterrupted);
    ASSIGN_OR_RETURN(python, capture::SetUp(parts, CacheOf(options), common.quiet, Teller(common)));
  }
  ASSIGN_OR_RETURN(const capture::CaptureEnvironment environment,
                   Prepare(options, common, parts, python));
  Report(kTool, common,
         fmt::format("ready: {} with PyTorch {}", python, environment.torch_version));
  return OkStatus();
}

// The cluster as a launcher sees it: its first host, since a launcher starts as many on each.
capture::ClusterSize SizeOf(const Topology& topology) {
  capture::ClusterSize size;
  size.hosts = topology.host_count();
  size.gpus_per_host = topology.kind_of_host(0).gpus;
  const capture::CapturedProcess facts = capture::FactsOf(topology, {}, 0);
  size.gpu = facts.name;
  size.compute_capability =
      fmt::format("{}.{}", facts.compute_capability / 10, facts.compute_capability % 10);
  size.memory_mib = static_cast<long>(facts.memory_bytes >> 20);
  size.driver = facts.driver;
  return size;
}

// Applies --nnodes and --nproc-per-node to a program that nothing else starts as several ranks.
Status GiveRanks(const Options& options, const capture::ClusterSize& cluster, Launch* launch) {
  if (options.hosts.empty() && options.ranks_per_host.empty()) return OkStatus();
  if (!launch->launcher.empty()) {
    return Error(
        fmt::format("--nnodes and --nproc-per-node are for programs without a launcher; "
                    "here {} starts {}",
                    launch->launcher, Plural(launch->ranks(), "rank")));
  }
  launch->launcher = "--nproc-per-node";
  if (!options.hosts.empty()) {
    ASSIGN_OR_RETURN(launch->hosts, capture::PositiveNumber("--nnodes", options.hosts, kMaxHosts));
  }
  if (options.ranks_per_host == "gpu") {
    launch->ranks_per_host = cluster.gpus_per_host;
  } else if (!options.ranks_per_host.empty()) {
    ASSIGN_OR_RETURN(launch->ranks_per_host,
                     capture::PositiveNumber("--nproc-per-node", options.ranks_per_host, kMaxGpus));
  }
  return OkStatus();
}

// The launch to capture: the only one, or the one of --launch.
Result<Launch> Choose(const Options& options, const FoundLaunches& found) {
  const int count = static_cast<int>(found.launches.size());
  if (options.launch > count) {
    return Error(fmt::format("--launch {}: the script launches {}", options.launch,
                             count == 1 ? "one program" : fmt::format("{} programs", count)));
  }
  if (count == 1 || options.launch > 0) {
    return found.launches[static_cast<size_t>(std::max(options.launch, 1) - 1)];
  }
  const Launch& first = found.launches.front();
  std::string list;
  for (int i = 0; i < count; ++i) {
    const Launch& launch = found.launches[static_cast<size_t>(i)];
    list += fmt::format("\n  --launch {}  {}", i + 1, capture::Describe(launch));
    if (launch.command != first.command) continue;
    // Only variables tell these apart.
    for (const std::string& name : capture::DifferentVariables(launch, first)) {
      list += fmt::format(", {}={}", name, capture::Quoted(ValueOf(launch.environment, name)));
    }
  }
  return Error(fmt::format("the script launches {} programs; choose one:{}", count, list));
}

// Runs a script for at most its time, or reads the command.
Result<FoundLaunches> Find(const Options& options, const CommonOptions& common,
                           const capture::ClusterSize& size, const capture::Parts& parts) {
  capture::ScriptOptions script;
  script.stand_ins = parts.stand_ins;
  script.cluster = size;
  if (!options.python.empty()) {
    ASSIGN_OR_RETURN(script.python, capture::PathOfProgram(options.python, OwnEnvironment()));
  }
  script.keep_home = options.keep_home;
  script.run_helpers = options.run_helpers;
  script.time_limit_s = options.time_limit;
  script.quiet = common.quiet;
  if (capture::IsScript(options.program)) {
    Report(kTool, common,
           fmt::format("executes the script, with stand-ins in place of launchers: {}",
                       capture::Quoted(options.program)));
  }
  ASSIGN_OR_RETURN(FoundLaunches found, capture::FindLaunches(options.program, script));
  for (const std::string& note : found.notes) Report(kTool, common, note);
  return found;
}

Status PrintArguments(const Options& options, const CommonOptions& common) {
  capture::ClusterSize size;
  if (options.cluster.empty()) {
    size.hosts = kMaxHosts;
    size.gpu = "NVIDIA GPU";
    size.driver = capture::kDriverVersion;
    Report(kTool, common,
           fmt::format("no --cluster: hosts with {} are taken for granted",
                       Plural(size.gpus_per_host, "GPU")));
  } else {
    ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, options.overrides));
    size = SizeOf(cluster.topology);
  }
  ASSIGN_OR_RETURN(const capture::Parts parts, capture::FindParts());
  ASSIGN_OR_RETURN(FoundLaunches found, Find(options, common, size, parts));
  if (options.launch > 0) {
    ASSIGN_OR_RETURN(const Launch chosen, Choose(options, found));
    found.launches = {chosen};
  }
  for (Launch& launch : found.launches) {
    RETURN_IF_ERROR(GiveRanks(options, size, &launch));
    if (!options.cluster.empty()) {
      RETURN_IF_ERROR(capture::CheckFits(launch, size, options.cluster));
    }
  }
  const Variables own = OwnEnvironment();
  for (const Launch& launch : found.launches) {
    if (options.json) {
      fmt::print("{}\n", capture::JsonText(launch, own));
    } else {
      fmt::print("# {} on {}\n{}\n", Plural(launch.ranks(), "rank"), Plural(launch.hosts, "host"),
                 capture::ShellText(launch, own));
    }
  }
  return OkStatus();
}

capture::CaptureOptions OptionsFor(const Options& options, const Launch& launch,
                                   const std::string& python) {
  capture::CaptureOptions capture;
  capture.command = capture::CommandOfRanks(launch, python);
  capture.folder = launch.folder;
  capture.environment = launch.environment;
  if (!launch.rank_variables.empty()) {
    capture.rank_variables = [launch](int rank) {
      Variables variables;
      const Variables all = capture::EnvironmentOf(launch, rank);
      for (const auto& [name, number] : launch.rank_variables) {
        variables.emplace_back(name, ValueOf(all, name));
      }
      return variables;
    };
  }
  capture.world = launch.ranks();
  capture.ranks_per_host = launch.ranks_per_host;
  capture.iteration = options.iteration;
  capture.all_ranks = options.all_ranks;
  capture.jobs = options.jobs;
  capture.time_limit_s = options.rank_time_limit;
  return capture;
}

Result<capture::CapturedWorkload> CaptureWatched(const CommonOptions& common,
                                                 const capture::CaptureEnvironment& environment,
                                                 const Topology& topology,
                                                 capture::CaptureOptions options) {
  TaskProgress line(kTool, common);
  options.progress = [&](const capture::CaptureProgress& progress) {
    line.Show(fmt::format("{} of {} captured, {}: {}", progress.ranks_ended,
                          Plural(progress.ranks_known, "rank"), Plural(progress.classes, "class"),
                          progress.doing));
  };
  return capture::CaptureProgram(environment, topology, options);
}

void Announce(const CommonOptions& common, const capture::CapturedWorkload& captured) {
  const Workload& workload = captured.workload;
  size_t ran = 0;
  for (const capture::CapturedClass& kind : captured.classes) ran += kind.captured.size();
  Report(kTool, common,
         fmt::format("{}: {}; {} of them run", workload.totals.model_name, workload.totals.layout,
                     ran));
  for (const std::string& note : captured.notes) Report(kTool, common, note);
  if (common.verbose && !captured.output.empty()) {
    Say(fmt::format("{}: the end of what rank 0 printed:\n{}\n", kTool.name, captured.output));
  }
}

// How the workload came about: another capture with the same gives the same.
Provenance ProvenanceOf(const Options& options, const ClusterInput& cluster, const Launch& launch,
                        const std::string& python, const capture::CaptureEnvironment& environment) {
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{BaseName(options.cluster), Sha256(cluster.yaml)}};
  provenance.options = options.overrides;
  const auto add = [&](const char* name, const std::string& value) {
    provenance.options.push_back(fmt::format("{}={}", name, value));
  };
  add("iteration", std::to_string(options.iteration));
  add("command", capture::Quoted(options.program));
  add("launcher", launch.launcher.empty() ? "none" : launch.launcher);
  add("hosts", std::to_string(launch.hosts));
  add("ranks-per-host", std::to_string(launch.ranks_per_host));
  add("program", capture::Quoted(launch.command));
  for (const auto& [name, value] : capture::SettingsIn(launch.environment)) {
    add("variable", fmt::format("{}={}", name, value));
  }
  add("python", fmt::format("{} {}", environment.python_version, python));
  add("pytorch", environment.torch_version);
  return provenance;
}

Status RunCapture(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const RunLock lock,
                   LockRun(kTool, common, options.run, RunLock::Missing::kMake));
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, options.overrides));
  ASSIGN_OR_RETURN(const capture::Parts parts, capture::FindParts());
  if (!common.check) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kManifestName));
  const capture::ClusterSize size = SizeOf(cluster.topology);
  // Keeps the files that a script has written for the program.
  ASSIGN_OR_RETURN(const FoundLaunches found, Find(options, common, size, parts));
  ASSIGN_OR_RETURN(Launch launch, Choose(options, found));
  RETURN_IF_ERROR(GiveRanks(options, size, &launch));
  RETURN_IF_ERROR(capture::CheckFits(launch, size, options.cluster));
  RETURN_IF_ERROR(capture::CheckProgram(launch));
  ASSIGN_OR_RETURN(const std::string python,
                   capture::ChoosePython(options.python, launch, CacheOf(options), Teller(common)));
  ASSIGN_OR_RETURN(const capture::CaptureEnvironment environment,
                   Prepare(options, common, parts, python));
  Report(kTool, common,
         fmt::format("{}, PyTorch {}", capture::Describe(launch), environment.torch_version));
  if (common.check) return OkStatus();
  ASSIGN_OR_RETURN(
      capture::CapturedWorkload captured,
      CaptureWatched(common, environment, cluster.topology, OptionsFor(options, launch, python)));
  captured.workload.totals.model_name = capture::NameOfProgram(launch);
  Announce(common, captured);
  Provenance provenance = ProvenanceOf(options, cluster, launch, python, environment);
  provenance.options.push_back("processor=" + captured.processor);
  return WriteWorkload(options.run, captured.workload, cluster, provenance,
                       captured.attention_backend);
}

Status Run(const Options& options, const CommonOptions& common) {
  if (options.set_up) return RunSetUp(options, common);
  return options.arguments_only ? PrintArguments(options, common) : RunCapture(options, common);
}

std::string Subject(const Options& options) {
  return options.program.empty() ? options.cluster : capture::Quoted(options.program);
}

}  // namespace

std::unique_ptr<Command> MakeCaptureCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
