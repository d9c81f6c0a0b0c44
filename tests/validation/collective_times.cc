// collective_times CLUSTER.topo: how long single collectives take, as the pipeline would plan and
// replay them. Reads one call a line from standard input,
//     <collective> <type> <bytes> <hosts> <GPUs a host>
// over the first hosts and the first GPUs of each, and prints
//     <the line> <microseconds> <the plan>
// `bytes` as nccl-tests counts them: the buffer; all-gather the gathered output; reduce-scatter the
// full input; all-to-all one rank's buffer; send-recv the message. A send-recv is the hop of
// nccl-tests' ring shift that takes longest: to the next host, where there are several.
//
// As nccl-tests does, it divides the time of calls made back to back by their number where that
// matters: with a root, ranks are done at different times, and one call flows into the next.
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <vector>

#include "core/model/call_words.h"
#include "core/model/call_workload.h"
#include "core/schema/cluster_file.h"
#include "exec-engine/analytical_network.h"
#include "exec-engine/replay.h"
#include "simccl/nccl_planner.h"

namespace drydock {
namespace {

struct Question {
  std::string collective, type;
  int64_t bytes = 0;
  int hosts = 1, gpus = 1;
};

constexpr int kCalls = 20;  // nccl-tests' default of calls it times

int CallsToTime(CollectiveType type) {
  const bool rooted = type == CollectiveType::kBroadcast || type == CollectiveType::kReduce;
  return rooted ? kCalls : 1;
}

// The calls on each of the group's ranks.
Result<Workload> MakeWorkload(const Topology& topology, const Question& question) {
  CommCall call;
  ASSIGN_OR_RETURN(call.collective, ParseCollective(question.collective));
  ASSIGN_OR_RETURN(call.type, ParseDataType(question.type));
  call.count = question.bytes / SizeOf(call.type).count();
  if (call.collective == CollectiveType::kSendRecv) {
    call.root = question.hosts > 1 ? question.gpus - 1 : 0;
    call.peer = call.root + 1;
  }
  Group group;
  const Placement placement(topology);
  for (int rank = 0; rank < topology.gpu_count(); ++rank) {
    const Placement::Slot& slot = placement.of(rank);
    if (slot.host < question.hosts && slot.gpu < question.gpus) group.ranks.push_back(rank);
  }
  call.group_size = static_cast<int>(group.ranks.size());
  const auto calls = static_cast<size_t>(CallsToTime(call.collective));
  return WorkloadOfCalls(topology, {group}, std::vector<CommCall>(calls, call));
}

Result<std::string> Answer(const Topology& topology, const Question& question,
                           CollectivePlanner* planner) {
  ASSIGN_OR_RETURN(const Workload workload, MakeWorkload(topology, question));
  const Placement placement(topology);
  std::vector<Placement::Slot> members;
  for (const int rank : workload.groups[0].ranks) members.push_back(placement.of(rank));
  RETURN_IF_ERROR(planner->OpenGroup(members));
  FlowPlan plan;
  ASSIGN_OR_RETURN(Plan planned, planner->PlanCall(workload.calls[0]));
  plan.plans.push_back(std::move(planned));
  const auto calls = static_cast<uint32_t>(workload.calls.size());
  for (uint32_t call = 0; call < calls; ++call) plan.assignments.push_back({call, 0, 0});
  const NetworkChoice network = {"analytical", "", MakeAnalyticalNetwork};
  ASSIGN_OR_RETURN(const Timeline timeline,
                   Replay(workload, plan, NoKernelTimes(topology), network, {}));
  const Work& p = plan.plans[0].works.front();
  return fmt::format("{:.2f} {}/{} {} channels {} warps, {} slots of {}",
                     timeline.iteration.us() / calls,
                     AlgorithmNames()[static_cast<size_t>(p.algorithm)],
                     ProtocolNames()[static_cast<size_t>(p.protocol)], p.channels, p.warps, p.slots,
                     p.slice_bytes);
}

Status Main(const std::string& path) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(path, {}));
  ASSIGN_OR_RETURN(const auto planner, MakeNcclPlanner(cluster.topology, {}));
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
