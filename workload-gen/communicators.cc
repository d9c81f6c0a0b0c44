#include "workload-gen/communicators.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_xml.h"

namespace drydock {
namespace {

Result<NcclWorld> MakeWorld(const Topology& topology, const std::string& library_path) {
  ASSIGN_OR_RETURN(std::shared_ptr<NcclLibrary> library, NcclLibrary::Load(library_path));
  std::vector<NcclHost> hosts;
  for (const HostKind& kind : topology.host_kinds) {
    ASSIGN_OR_RETURN(NcclHost host,
                     DescribeHost(kind, topology.gpus[static_cast<size_t>(kind.gpu)]));
    hosts.push_back(std::move(host));
  }
  return NcclWorld::Create(std::move(library), hosts, topology.nccl_settings);
}

// "tp group of ranks 0, 1, 2, ... (8 ranks)": by the first role that has it.
std::string Describe(const Workload& workload, size_t group) {
  constexpr size_t kShown = 4;
  const std::vector<int>& ranks = workload.groups[group].ranks;
  std::string name = "process";
  for (size_t role = workload.roles.size(); role-- > 0;) {
    const int of_first = workload.group_of_rank[role][static_cast<size_t>(ranks.front())];
    if (of_first == static_cast<int>(group)) name = workload.roles[role].name;
  }
  std::string list;
  for (size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (ranks.size() > kShown) list += fmt::format(", ... ({} ranks)", ranks.size());
  return fmt::format("{} group of ranks {}", name, list);
}

std::vector<hacknccl_place> PlacesOf(const Group& group, const Placement& placement,
                                     const Topology& topology) {
  std::vector<hacknccl_place> places;
  for (const int rank : group.ranks) {
    const Placement::Slot& slot = placement.of(rank);
    places.push_back({slot.host, topology.hosts[static_cast<size_t>(slot.host)], slot.gpu});
  }
  return places;
}

}  // namespace

Status CreateCommunicators(const Workload& workload, const std::string& library_path,
                           const std::function<void(size_t done, size_t of)>& progress) {
  if (workload.groups.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const NcclWorld world, MakeWorld(workload.topology, library_path));
  const Placement placement(workload.topology);
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    const Result<NcclCommunicator> communicator = world.CreateCommunicator(
        PlacesOf(workload.groups[group], placement, workload.topology));
    if (!communicator.ok()) {
      return Error(fmt::format("NCCL cannot make the {}: {}", Describe(workload, group),
                               communicator.error().message()));
    }
    progress(group + 1, workload.groups.size());
  }
  return OkStatus();
}

}  // namespace drydock
