// For tests and benchmarks: small clusters, plans and workloads built in memory.
#ifndef DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_
#define DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "exec-engine/network/network.h"
#include "exec-engine/replay/replay.h"

namespace drydock::testing {

// Hosts of `gpus` GPUs, a NIC for each, all NICs on one switch. Scale-up 100 GB/s and 1 us; NICs
// 200 Gbps; PCIe faster than both. Every protocol: no base, no step, 10 GB/s a channel.
Topology SmallCluster(int hosts, int gpus);

// Programs of one channel each for every member, over `channels` channels; `link` joins members
// (kNet where `gpus_per_host` puts them in different hosts). Bytes are split over channels.
struct PlanShape {
  int members = 2;
  int gpus_per_host = 8;
  int channels = 1;
  int64_t bytes = 1 << 20;
  int64_t slice_bytes = 0;
  LinkKind link = LinkKind::kPeerWrite;
  Protocol protocol = Protocol::kSimple;
};
Plan RingAllReduce(const PlanShape& shape);
Plan RingAllGather(const PlanShape& shape);
Plan SendReceive(const PlanShape& shape);  // member 0 to member 1

// Grows a workload op by op. Blocks are by duration; calls and groups are made on first use.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(Topology topology);

  int Stream(const std::string& name);
  // The role's groups: each list of ranks is one communicator.
  int Role(const std::string& name, Dimension dimension, std::vector<std::vector<int>> groups);
  // Each rank has a program of its own. Dependencies are ops of the same rank.
  uint32_t Compute(int rank, int stream, Time duration, std::vector<uint32_t> dependencies = {});
  uint32_t Collective(int rank, int stream, int role, CollectiveType type, int64_t bytes,
                      std::vector<uint32_t> dependencies = {});
  uint32_t Transfer(int rank, int stream, int role, bool send, int sender, int64_t bytes,
                    int32_t tag, std::vector<uint32_t> dependencies = {});

  // A load, a store or the host's work; every host then has `host_memory`.
  uint32_t Memory(int rank, int stream, OpKind kind, MemoryTier tier, int64_t bytes,
                  std::vector<uint32_t> dependencies = {});
  // 100 GB/s a socket, of which work reaches a half; copies reach half of their link after 2 us.
  HostMemory host_memory = {Bandwidth::BitsPerSecond(800'000'000'000), 0.5, 0.5, Time::Us(2), {}};

  // Plans for every use, by ring, in slices of 64 KiB over `channels` channels.
  void PlanAll(int channels = 2);
  // Uses the given plan for every call of this many bytes.
  void SetPlan(int64_t bytes, Plan plan);

  Workload workload;
  FlowPlan plan;
  KernelTimes times;

 private:
  uint32_t Add(int rank, Op op, std::vector<uint32_t> dependencies);
  uint32_t Call(CollectiveType type, int64_t bytes, int sender, int group);
};

// -1 if the timeline has no such counter.
int64_t Counter(const Timeline& timeline, const std::string& name);

NetworkModel Analytical();
Result<Timeline> ReplayAll(const WorkloadBuilder& builder, bool shortcut = true);

}  // namespace drydock::testing

#endif  // DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_
