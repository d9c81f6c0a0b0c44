#include "workload-gen/graph/check/communicators.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "core/model/calls/rank_list.h"
#include "core/model/fabric/placement_pattern.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"

namespace drydock {
namespace {

// "tp group of ranks 0, 1, 2, ... (8 ranks)": the first role that has the group.
std::string Describe(const Workload& workload, size_t group) {
  const std::vector<int>& ranks = workload.groups[group].ranks;
  std::string name = "process";
  for (size_t role = workload.roles.size(); role-- > 0;) {
    const int of_first = workload.group_of_rank[role][static_cast<size_t>(ranks.front())];
    if (of_first == static_cast<int>(group)) name = workload.roles[role].name;
  }
  const std::string list = FirstRanksText(ranks);
  const bool more = list.ends_with("...");
  return fmt::format("{} group of ranks {}{}", name, list,
                     more ? fmt::format(" ({} ranks)", ranks.size()) : "");
}

std::vector<hacknccl_place> PlacesOf(const Group& group, const Placement& placement,
                                     const Topology& topology) {
  return PlacesOf(SlotsOf(group.ranks, placement), topology);
}

}  // namespace

std::vector<size_t> FirstOfPlacement(const Workload& workload) {
  const Placement placement(workload.topology);
  std::map<PlacementPattern, size_t> first;
  std::vector<size_t> first_of;
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    first_of.push_back(
        first
            .emplace(PlacementPatternOf(workload.groups[group].ranks, workload.topology, placement),
                     group)
            .first->second);
  }
  return first_of;
}

Result<size_t> CreateCommunicators(const Workload& workload, const CommunicatorOptions& options) {
  if (workload.groups.empty()) return size_t{0};
  ASSIGN_OR_RETURN(const NcclWorld world, WorldOf(workload.topology, options.library_path));
  const Placement placement(workload.topology);
  const std::vector<size_t> first = FirstOfPlacement(workload);
  size_t created = 0;
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    if (options.progress) options.progress(group, workload.groups.size());
    if (options.once_per_placement && first[group] != group) continue;
    const Result<NcclCommunicator> communicator =
        world.CreateCommunicator(PlacesOf(workload.groups[group], placement, workload.topology));
    if (!communicator.ok()) {
      return Error(fmt::format("NCCL cannot make the {}: {}", Describe(workload, group),
                               communicator.error().message()));
    }
    ++created;
  }
  return created;
}

}  // namespace drydock
