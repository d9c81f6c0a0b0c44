#include "core/nccl/topology_world.h"

#include <utility>

#include "core/nccl/nccl_settings.h"
#include "core/nccl/topology_xml.h"

namespace drydock {

Result<NcclWorld> WorldOf(const Topology& topology, const std::string& library_path) {
  ASSIGN_OR_RETURN(std::shared_ptr<NcclLibrary> library, NcclLibrary::Load(library_path));
  std::vector<NcclHost> hosts;
  for (const HostKind& kind : topology.host_kinds) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
    ASSIGN_OR_RETURN(NcclHost host, DescribeHost(kind, gpu));
    host.collnet = topology.fabric.sharp.has_value();
    hosts.push_back(std::move(host));
  }
  return NcclWorld::Create(std::move(library), hosts, topology.nccl_settings);
}

std::vector<hacknccl_place> PlacesOf(std::span<const Placement::Slot> ranks,
                                     const Topology& topology) {
  std::vector<hacknccl_place> places;
  for (const Placement::Slot& slot : ranks) {
    places.push_back({slot.host, topology.hosts[static_cast<size_t>(slot.host)], slot.gpu});
  }
  return places;
}

Result<std::vector<std::string>> CheckSettings(const ClusterInput& cluster,
                                               const std::string& library_path) {
  if (cluster.nccl_settings.empty()) return std::vector<std::string>{};
  ASSIGN_OR_RETURN(const std::shared_ptr<NcclLibrary> library, NcclLibrary::Load(library_path));
  NcclSettingReport report = CheckNcclSettings(library->api(), cluster.topology.nccl_settings);
  Diagnostics diagnostics;
  for (const NcclSettingReport::Problem& problem : report.problems) {
    const auto& [name, value] = cluster.nccl_settings[problem.setting];
    diagnostics.Add((problem.of_value ? value : name).ErrorHere(problem.message));
  }
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return std::move(report.idle);
}

}  // namespace drydock
