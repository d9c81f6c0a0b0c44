#include "workload-gen/host/host_launch.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

// A set that charges each kernel for all of its operator charges next to nothing where one kernel
// does the work of many operators.
Status CheckKernels(const HostLaunchSet& set, const TrainingJob& job) {
  const char* kernels = job.training.kernels.fused ? "fused" : "unfused";
  if (set.kernels.empty() || set.kernels == kernels) return OkStatus();
  return job.ErrorAt(
      "training.host_launch",
      fmt::format("'host_launch: {}' was measured with 'kernels: {}' and charges too little with "
                  "'kernels: {}', where one kernel does the work of many; leave 'host_launch' out, "
                  "or write 'kernels: {}'",
                  set.launch.name, set.kernels, kernels, set.kernels));
}

}  // namespace

std::string HostLaunchPath() { return ConfigDirectory() + "/host-launch.yaml"; }

Result<HostLaunchSet> HostLaunchOf(const TrainingJob& job) {
  const std::string& wanted = job.training.host.launch;
  if (wanted == "none") return HostLaunchSet();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(HostLaunchPath()));
  ASSIGN_OR_RETURN(const std::vector<HostLaunchSet> sets,
                   ParseHostLaunchFile(text, HostLaunchPath()));
  std::vector<std::string> names = {"none"};
  for (HostLaunchSet set : sets) {
    if (job.model.moe.experts == 0) set.launch.expert = Time();
    if (set.launch.name == wanted) {
      RETURN_IF_ERROR(CheckKernels(set, job));
      return set;
    }
    names.push_back(set.launch.name);
  }
  return job.ErrorAt("training.host_launch",
                     fmt::format("'host_launch' cannot be '{}'{}; valid values are {}", wanted,
                                 DidYouMean(wanted, names), Join(names)));
}

}  // namespace drydock
