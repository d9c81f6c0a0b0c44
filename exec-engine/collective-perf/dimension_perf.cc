#include "exec-engine/collective-perf/dimension_perf.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/files.h"
#include "core/schema/foreign/astra_files.h"
#include "exec-engine/dimensions/dimension_system.h"

namespace drydock {
namespace {

const std::string& NameOf(CollectiveType type) {
  return CollectiveTypeNames()[static_cast<size_t>(type)];
}

}  // namespace

std::string DimensionPerf::Title(CollectiveType type) const {
  std::string shape;
  for (const NetworkDimension& dimension : network.dimensions()) {
    shape +=
        fmt::format("{}{} {}", shape.empty() ? "" : " x ",
                    DimensionShapeNames()[static_cast<size_t>(dimension.shape)], dimension.npus);
  }
  return fmt::format("{} on {}, {} NPUs", NameOf(type), shape, network.npus());
}

Result<DimensionPerf> LoadDimensionPerf(const std::string& network_file,
                                        const std::string& system_file) {
  DimensionPerf perf;
  ASSIGN_OR_RETURN(const std::string network, ReadFile(network_file));
  ASSIGN_OR_RETURN(perf.network, ParseAstraNetwork(network, network_file));
  ASSIGN_OR_RETURN(const std::string system, ReadFile(system_file));
  ASSIGN_OR_RETURN(perf.system, ParseAstraSystem(system, system_file, perf.network));
  return perf;
}

Status CheckDimensionCollective(CollectiveType type) {
  using enum CollectiveType;
  if (type == kAllReduce || type == kAllGather || type == kReduceScatter || type == kAllToAll) {
    return OkStatus();
  }
  return Error(
      fmt::format("ASTRA-sim's system layer has no {}; valid values are all_reduce, all_gather, "
                  "reduce_scatter, alltoall",
                  NameOf(type)));
}

SweepResult TimeDimensionSize(const DimensionPerf& perf, const SweepSize& size) {
  SweepResult result{size, Time(), Time(), "nothing to move", "none"};
  const CollectiveType type = size.call.collective;
  int64_t bytes = size.call.bytes().count();
  if (type == CollectiveType::kAllGather) bytes /= perf.network.npus();  // comm_size is a part
  if (bytes == 0) return result;
  result.out_of_place = TimeOfCollective(perf.network, perf.system, type, bytes);
  result.in_place = result.out_of_place;
  result.decision = fmt::format("{} chunks", perf.system.splits);
  result.network = "analytical";
  return result;
}

}  // namespace drydock
