// collective_times CLUSTER.topo: predicts the time of single collectives, planned and replayed as
// in the pipeline. Reads one call a line from standard input,
//     <collective> <type> <bytes> <hosts> <GPUs a host>
// over the first hosts and the first GPUs of each, and prints
//     <the line> <microseconds> <the plan>
// `bytes` as nccl-tests counts them (collective_sweep.h): the buffer; all-gather the gathered
// output; reduce-scatter the full input; all-to-all one rank's buffer; send-recv the message from
// each rank to the next. The time is that of nccl-tests' loop, as in collective-perf (call_loop.h).
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <utility>
#include <vector>

#include "core/model/calls/call_words.h"
#include "core/model/calls/call_workload.h"
#include "core/schema/cluster/cluster_file.h"
#include "exec-engine/collective-perf/collective_sweep.h"
#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/replay/call_loop.h"
#include "simccl/nccl/nccl_planner.h"

namespace drydock {
namespace {

struct Question {
  std::string collective, type;
  int64_t bytes = 0;
  int hosts = 1, gpus = 1;
};

// The call on each of the group's ranks.
Result<Workload> MakeWorkload(const Topology& topology, const Question& question) {
  Group group;
  const Placement placement(topology);
  for (int rank = 0; rank < topology.gpu_count(); ++rank) {
    const Placement::Slot& slot = placement.of(rank);
    if (slot.host < question.hosts && slot.gpu < question.gpus) group.ranks.push_back(rank);
  }
  Sweep sweep;
  ASSIGN_OR_RETURN(sweep.collective, ParseCollective(question.collective));
  ASSIGN_OR_RETURN(const DataType type, ParseDataType(question.type));
  sweep.types = {type};
  sweep.smallest = sweep.largest = Bytes(question.bytes);
  sweep.group_size = static_cast<int>(group.ranks.size());
  return WorkloadOfCalls(topology, {group}, {SizesOf(sweep)[0].call});
}

Result<std::string> Answer(const Topology& topology, const Question& question,
                           CollectivePlanner* planner) {
  ASSIGN_OR_RETURN(Workload workload, MakeWorkload(topology, question));
  const Placement placement(topology);
  std::vector<Placement::Slot> members;
  for (const int rank : workload.groups[0].ranks) members.push_back(placement.of(rank));
  RETURN_IF_ERROR(planner->OpenGroup(members));
  CallAlone alone;
  ASSIGN_OR_RETURN(Plan planned, planner->PlanCall(workload.calls[0]));
  alone.plan.plans.push_back(std::move(planned));
  alone.plan.assignments.push_back({0, 0, 0});
  const NetworkModel network = {.name = "analytical", .make = MakeAnalyticalNetwork};
  alone.workload = std::move(workload);
  ASSIGN_OR_RETURN(const Time time, TimeOfOneCall(alone, CallLoop(), network, {}));
  const Work& p = alone.plan.plans[0].works.front();
  return fmt::format("{:.2f} {}/{} {} channels {} warps, {} slots, {} slices", time.us(),
                     AlgorithmNames()[static_cast<size_t>(p.algorithm)],
                     ProtocolNames()[static_cast<size_t>(p.protocol)], p.channels, p.warps, p.slots,
                     std::max(p.slices, 1));
}

Status Main(const std::string& path) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(path, {}));
  ASSIGN_OR_RETURN(const auto planner, MakeNcclPlanner(cluster.topology));
  std::string line;
  while (std::getline(std::cin, line)) {
    Question q;
    std::istringstream(line) >> q.collective >> q.type >> q.bytes >> q.hosts >> q.gpus;
    const Result<std::string> answer = Answer(cluster.topology, q, planner.get());
    fmt::print("{} {}\n", line, answer.ok() ? *answer : "error " + answer.error().message());
  }
  return OkStatus();
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: collective_times CLUSTER.topo < calls\n");
    return 2;
  }
  const drydock::Status status = drydock::Main(argv[1]);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
