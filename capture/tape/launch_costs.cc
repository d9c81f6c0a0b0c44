#include "capture/tape/launch_costs.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/schema/host/host_launch_file.h"

namespace drydock::capture {

Result<HostLaunch> LaunchCosts(const TapeHost& host) {
  const std::string path = ConfigDirectory() + "/capture-launch.yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const std::vector<HostLaunchSet> sets, ParseHostLaunchFile(text, path));
  if (sets.size() != 1)
    return Error(fmt::format("has {} sets in place of 1", sets.size()), {path, 0, 0});
  HostLaunch launch = sets.front().launch;
  if (host.groups > 0) {
    const Time call = Time::Ps(host.calls.ps() / host.groups);
    launch.collective += call;
    launch.message += call;
  }
  return launch;
}

}  // namespace drydock::capture
