#include "capture/launch/launchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "capture/launch/job_steps.h"
#include "capture/launch/options.h"
#include "capture/launch/python_command.h"
#include "core/base/files.h"
#include "core/base/plural.h"

namespace drydock::capture {
namespace {

enum class Kind { kTorchrun, kTorchLaunch, kDeepSpeed, kAccelerate };

struct Known {
  Kind kind;
  size_t arguments;
};

struct Named {
  const char* name;
  Kind kind;
};
constexpr Named kPrograms[] = {{"torchrun", Kind::kTorchrun},
                               {"deepspeed", Kind::kDeepSpeed},
                               {"deepspeed.pt", Kind::kDeepSpeed},
                               {"ds", Kind::kDeepSpeed},
                               {"accelerate-launch", Kind::kAccelerate}};
constexpr Named kModules[] = {{"torch.distributed.run", Kind::kTorchrun},
                              {"torch.distributed.elastic.launch", Kind::kTorchrun},
                              {"torch.distributed.launch", Kind::kTorchLaunch},
                              {"deepspeed.launcher.runner", Kind::kDeepSpeed},
                              {"deepspeed", Kind::kDeepSpeed},
                              {"accelerate.commands.launch", Kind::kAccelerate}};

// Finds the launcher by the name of its program, behind Python or not, or by its module.
std::optional<Known> Find(const std::vector<std::string>& words) {
  std::string program = BaseName(words.front());
  size_t arguments = 1;
  if (IsPython(program)) {
    const PythonCommand python = ReadPythonCommand(words);
    arguments = python.arguments;
    if (python.kind == PythonCommand::Kind::kModule) {
      for (const Named& module : kModules) {
        if (python.target == module.name) return Known{module.kind, arguments};
      }
      if (python.target != "accelerate.commands.accelerate_cli" && python.target != "accelerate") {
        return std::nullopt;
      }
      program = "accelerate";
    } else if (python.kind == PythonCommand::Kind::kFile) {
      program = BaseName(python.target);  // "python $(which torchrun)"
    } else {
      return std::nullopt;
    }
  }
  if (program == "accelerate") {
    if (arguments >= words.size() || words[arguments] != "launch") return std::nullopt;
    return Known{Kind::kAccelerate, arguments + 1};
  }
  for (const Named& known : kPrograms) {
    if (program == known.name) return Known{known.kind, arguments};
  }
  return std::nullopt;
}

// The Python of a launcher that is a script of Python: the one that its first line names. Else the
// one that PATH finds.
std::string PythonOf(const Call& call) {
  const std::string& program = call.words.front();
  if (IsPython(program)) return program;
  const std::string file = FindProgram(program, ValueOf(call.environment, "PATH"));
  if (!file.empty()) {
    const Result<std::string> text = ReadFile(file);
    if (text.ok() && text->starts_with("#!/")) {
      const std::string line = text->substr(2, text->find('\n') - 2);
      const std::string python = line.substr(0, line.find_first_of(" \r"));
      if (IsPython(python) && FileExists(python)) return python;
    }
  }
  return "python";
}

int NumberOf(const Variables& environment, const std::string& name) {
  return std::atoi(ValueOf(environment, name).c_str());
}

}  // namespace

bool IsLauncher(const std::vector<std::string>& words) { return Find(words).has_value(); }

Result<Launch> ReadLauncher(const Call& call, const ClusterSize& cluster) {
  const Known known = *Find(call.words);
  const LauncherWords words{call, PythonOf(call), known.arguments};
  Result<Launch> launch = [&]() -> Result<Launch> {
    switch (known.kind) {
      case Kind::kTorchrun:
        return ReadTorchrun(words, cluster, /*passes_local_rank=*/false);
      case Kind::kTorchLaunch:
        return ReadTorchrun(words, cluster, /*passes_local_rank=*/true);
      case Kind::kDeepSpeed:
        return ReadDeepSpeed(words, cluster);
      case Kind::kAccelerate:
        return ReadAccelerate(words, cluster);
    }
    return Error("no launcher");
  }();
  if (!launch.ok()) return launch;
  // A step starts a launcher once on each host, or once for all.
  const int tasks = call.step ? call.step->tasks() : 1;
  if (tasks > 1 && tasks != launch->hosts) {
    return Error(fmt::format(
        "{} starts {} as {}, and each of them would start the ranks of {}; start it once on each "
        "host (srun --ntasks-per-node=1), or correct its number of hosts",
        call.step->launcher, launch->launcher, Plural(tasks, "task"),
        Plural(launch->hosts, "host")));
  }
  if (call.step) {
    for (const auto& number : NumbersOfStep(call.step->launcher)) {
      // All ranks of a host are processes of one task.
      if (!Has(launch->environment, number.first)) continue;
      const bool local = number.second == RankNumber::kLocalRank;
      if (!local && tasks > 1) launch->rank_variables.emplace_back(number.first, RankNumber::kHost);
    }
  }
  return launch;
}

Result<Launch> ReadProgram(const Call& call, const ClusterSize& cluster) {
  Launch launch;
  launch.command = call.words;
  launch.folder = call.folder;
  launch.environment = call.environment;
  if (call.step) {
    launch.launcher = call.step->launcher;
    launch.hosts = call.step->hosts;
    launch.ranks_per_host = call.step->tasks_per_host;
    for (const auto& number : NumbersOfStep(call.step->launcher)) {
      launch.rank_variables.push_back(number);
    }
    return launch;
  }
  // A script may be its own launcher: it tells each rank who it is.
  const int world = NumberOf(call.environment, "WORLD_SIZE");
  if (world <= 1 || !Has(call.environment, "RANK")) return launch;
  int local = NumberOf(call.environment, "LOCAL_WORLD_SIZE");
  if (local <= 0) local = std::min(world, cluster.gpus_per_host);
  if (world % local != 0) {
    return Error(
        fmt::format("WORLD_SIZE {} is not a multiple of {}, the ranks of a host; set "
                    "LOCAL_WORLD_SIZE",
                    world, local));
  }
  launch.launcher = "RANK and WORLD_SIZE";
  launch.hosts = world / local;
  launch.ranks_per_host = local;
  return launch;
}

}  // namespace drydock::capture
