#include "workload-gen/communicators.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"

namespace drydock {
namespace {

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
  std::vector<Placement::Slot> slots;
  for (const int rank : group.ranks) slots.push_back(placement.of(rank));
  return PlacesOf(slots, topology);
}

// Hosts numbered by first appearance: what NCCL can tell apart.
std::vector<int> PatternOf(const std::vector<hacknccl_place>& places) {
  std::map<int, int> host_numbers;
  std::vector<int> pattern;
  for (const hacknccl_place& place : places) {
    const auto number =
        host_numbers.emplace(place.host, static_cast<int>(host_numbers.size())).first->second;
    pattern.insert(pattern.end(), {number, place.host_class, place.gpu});
  }
  return pattern;
}

}  // namespace

std::vector<size_t> FirstAlike(const Workload& workload) {
  const Placement placement(workload.topology);
  std::map<std::vector<int>, size_t> first;
  std::vector<size_t> alike;
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    const std::vector<int> pattern =
        PatternOf(PlacesOf(workload.groups[group], placement, workload.topology));
    alike.push_back(first.emplace(pattern, group).first->second);
  }
  return alike;
}

Result<size_t> CreateCommunicators(const Workload& workload, const CommunicatorOptions& options) {
  if (workload.groups.empty()) return size_t{0};
  ASSIGN_OR_RETURN(const NcclWorld world, WorldOf(workload.topology, options.library_path));
  const Placement placement(workload.topology);
  const std::vector<size_t> alike = FirstAlike(workload);
  size_t created = 0;
  for (size_t group = 0; group < workload.groups.size(); ++group) {
    if (options.alike_once && alike[group] != group) continue;
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
