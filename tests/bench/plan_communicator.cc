// plan_communicator CLUSTER.topo HOSTS GPUS COLLECTIVE BYTES DIRECTORY [ASSIGNMENT...]: measures
// the planning of one call of one communicator. The communicator has the first GPUS GPUs of each of
// HOSTS hosts of the cluster's first kind. An ASSIGNMENT sets a value of the cluster as --set does.
// Prints
//     <CPU seconds to create the communicator> <to plan the call> <peak MB> <MB of 2-flows.pb>
//     <algorithm>
// 2-flows.pb is written into DIRECTORY after the peak is taken.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/model/calls/call_words.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"
#include "simccl/nccl/nccl_planner.h"
#include "tests/bench/usage.h"

namespace drydock {
namespace {

Status Main(const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(const ClusterInput cluster,
                   LoadCluster(arguments[0], {arguments.begin() + 6, arguments.end()}));
  Topology topology = cluster.topology;
  const int hosts = std::atoi(arguments[1].c_str()), gpus = std::atoi(arguments[2].c_str());
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  std::vector<Placement::Slot> members;
  for (int rank = 0; rank < hosts * gpus; ++rank) members.push_back({rank / gpus, rank % gpus});
  CommCall call;
  ASSIGN_OR_RETURN(call.collective, ParseCollective(arguments[3]));
  ASSIGN_OR_RETURN(const Bytes bytes, ParseCallSize(arguments[4]));
  call.type = DataType::kBf16;
  call.group_size = hosts * gpus;
  call.count = bytes.count() / SizeOf(call.type).count();

  ASSIGN_OR_RETURN(const auto planner, MakeNcclPlanner(topology));
  const double start = CpuSeconds();
  RETURN_IF_ERROR(planner->OpenGroup(members));
  const double opened = CpuSeconds();
  FlowPlan flow_plan;
  ASSIGN_OR_RETURN(Plan plan, planner->PlanCall(call));
  const double planned = CpuSeconds();
  const double peak = PeakMegabytes();
  const std::string& algorithm =
      AlgorithmNames()[static_cast<size_t>(plan.works.front().algorithm)];
  flow_plan.plans.push_back(std::move(plan));
  RETURN_IF_ERROR(WriteFlowPlan(arguments[5], flow_plan, {}));
  ASSIGN_OR_RETURN(const std::string written, ReadFile(arguments[5] + "/" + kFlowPlanName));
  fmt::print("{:.4f} {:.4f} {:.1f} {:.3f} {}\n", opened - start, planned - opened, peak,
             static_cast<double>(written.size()) / 1e6, algorithm);
  return OkStatus();
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr,
               "usage: plan_communicator CLUSTER.topo HOSTS GPUS COLLECTIVE BYTES DIRECTORY "
               "[ASSIGNMENT...]\n");
    return 2;
  }
  const drydock::Status status = drydock::Main({argv + 1, argv + argc});
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
