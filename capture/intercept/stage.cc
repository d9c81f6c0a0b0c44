#include "capture/intercept/stage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "core/base/files.h"

namespace drydock::capture {
namespace {

std::string CallFile(const std::string& folder, int number) {
  return fmt::format("{}/calls/{}", folder, number);
}

}  // namespace

Status WriteFacts(const std::string& folder, const StageFacts& facts) {
  return WriteFileAtomically(
      folder + "/cluster",
      fmt::format("{} {} {} {} {}\n{}\n{}\n{}\n{}\n", facts.cluster.hosts,
                  facts.cluster.gpus_per_host, facts.cluster.memory_mib, facts.owner,
                  facts.run_helpers ? 1 : 0, facts.cluster.gpu, facts.cluster.compute_capability,
                  facts.cluster.driver, facts.python));
}

Result<StageFacts> ReadFacts(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(folder + "/cluster"));
  std::istringstream lines(text);
  StageFacts facts;
  int run_helpers = 0;
  lines >> facts.cluster.hosts >> facts.cluster.gpus_per_host >> facts.cluster.memory_mib >>
      facts.owner >> run_helpers;
  facts.run_helpers = run_helpers != 0;
  std::string rest;
  std::getline(lines, rest);
  std::getline(lines, facts.cluster.gpu);
  std::getline(lines, facts.cluster.compute_capability);
  std::getline(lines, facts.cluster.driver);
  std::getline(lines, facts.python);
  if (!lines) return Error("is not complete", {folder + "/cluster", 0, 0});
  return facts;
}

Status AddCall(const std::string& folder, const SeenCall& call) {
  const std::string text = fmt::format("{}", static_cast<int>(call.seen)) + Encode(call.call);
  const std::string own = fmt::format("{}/calls/.{}", folder, ::getpid());
  RETURN_IF_ERROR(WriteFileAtomically(own, text));
  // A link to a name that exists fails: the first free number is this call's.
  for (int number = 0;; ++number) {
    if (::link(own.c_str(), CallFile(folder, number).c_str()) == 0) break;
    if (errno != EEXIST) {
      return Error(fmt::format("cannot keep a call: {}", strerror(errno)), {own, 0, 0});
    }
  }
  ::unlink(own.c_str());
  return OkStatus();
}

Result<std::vector<SeenCall>> ReadCalls(const std::string& folder) {
  std::vector<SeenCall> calls;
  for (int number = 0;; ++number) {
    const std::string file = CallFile(folder, number);
    if (!FileExists(file)) return calls;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    if (text.empty()) return Error("is empty", {file, 0, 0});
    ASSIGN_OR_RETURN(Call call, Decode(std::string_view(text).substr(1)));
    calls.push_back({static_cast<Seen>(text[0] - '0'), std::move(call)});
  }
}

const std::vector<std::string>& StandInNames() {
  static const std::vector<std::string> kNames = {
      // Launchers.
      "torchrun", "deepspeed", "deepspeed.pt", "ds", "accelerate", "accelerate-launch", "srun",
      "mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", "mpirun.mpich", "mpirun.openmpi",
      "sbatch", "salloc",
      // Python.
      "python", "python3", "python3.6", "python3.7", "python3.8", "python3.9", "python3.10",
      "python3.11", "python3.12", "python3.13", "python3.14",
      // Commands around another command.
      "numactl", "nsys", "ncu", "uv", "poetry", "pipenv", "pdm", "pixi", "conda", "mamba",
      "micromamba", "singularity", "apptainer", "shifter", "docker", "podman", "nvidia-docker",
      "enroot", "sudo", "ssh", "pdsh", "clush",
      // What a host of the cluster would answer.
      "nvidia-smi", "hostname", "scontrol", "squeue", "sacct", "sinfo", "scancel",
      // What needs a network, another machine or another user.
      "kubectl", "pip", "pip3", "apt", "apt-get", "yum", "dnf", "wget", "curl", "wandb",
      "huggingface-cli", "hf", "aws", "gsutil", "gcloud", "azcopy", "module", "ml", "spack",
      "sleep", kMissingName};
  return kNames;
}

bool IsStandIn(const std::string& program) {
  const std::vector<std::string>& names = StandInNames();
  return std::find(names.begin(), names.end(), BaseName(program)) != names.end();
}

}  // namespace drydock::capture
