#include "workload-gen/job/host_launch.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/version.h"

namespace drydock {

std::string HostLaunchPath() { return std::string(kDefaultConfigDirectory) + "/host-launch.yaml"; }

Result<HostLaunchSet> HostLaunchOf(const TrainingJob& job) {
  const std::string& wanted = job.training.host.launch;
  if (wanted == "none") return HostLaunchSet();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(HostLaunchPath()));
  ASSIGN_OR_RETURN(const std::vector<HostLaunchSet> sets,
                   ParseHostLaunchFile(text, HostLaunchPath()));
  std::vector<std::string> names = {"none"};
  for (HostLaunchSet set : sets) {
    if (job.model.moe.experts == 0) set.launch.expert = Time();
    if (set.launch.name == wanted) return set;
    names.push_back(set.launch.name);
  }
  return job.ErrorAt("training.host_launch",
                     fmt::format("'host_launch' cannot be '{}'{}; valid values are {}", wanted,
                                 DidYouMean(wanted, names), Join(names)));
}

}  // namespace drydock
