// Small clusters, plans and workloads in memory, for tests and benchmarks.
#ifndef DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_
#define DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "core/network/network.h"
#include "exec-engine/replay/replay.h"

namespace drydock::testing {

// Hosts of `gpus` GPUs with a NIC for each, all NICs on one switch. Scale-up of 100 GB/s and 1 us,
// NICs of 200 Gbps, PCIe faster than both. All protocols have no base cost, no cost of a step, and
// 10 GB/s a channel.
Topology SmallCluster(int hosts, int gpus);

// A program for every member on each of `channels` channels, which share the bytes. `link` connects
// members of one host, kNet members of different hosts (`gpus_per_host`).
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

// Builds a workload op by op. Makes a block for each duration, and calls and groups on first use.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(Topology topology);

  int Stream(const std::string& name);
  // Each list of ranks is a group of the role.
  int Role(const std::string& name, Dimension dimension, std::vector<std::vector<int>> groups);
  // Each rank has its own program. Dependencies are ops of the same rank.
  uint32_t Compute(int rank, int stream, Time duration, std::vector<uint32_t> dependencies = {});
  uint32_t Collective(int rank, int stream, int role, CollectiveType type, int64_t bytes,
                      std::vector<uint32_t> dependencies = {});
  uint32_t Transfer(int rank, int stream, int role, bool send, int sender, int64_t bytes,
                    int32_t tag, std::vector<uint32_t> dependencies = {});

  // A load, a store or host work. Every host then has `host_memory`.
  uint32_t Memory(int rank, int stream, OpKind kind, MemoryTier tier, int64_t bytes,
                  std::vector<uint32_t> dependencies = {});
  // 100 GB/s for each socket, half of which host work reaches. Copies reach half of their link,
  // after 2 us.
  HostMemory host_memory = {Bandwidth::BitsPerSecond(800'000'000'000), 0.5, 0.5, Time::Us(2), {}};

  // Makes ring plans for all uses, in slices of 64 KiB over `channels` channels.
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

// Returns -1 if the timeline has no such counter.
int64_t Counter(const Timeline& timeline, const std::string& name);

NetworkModel Analytical();
Result<Timeline> ReplayAll(const WorkloadBuilder& builder, bool shortcut = true);

}  // namespace drydock::testing

#endif  // DRYDOCK_EXEC_ENGINE_TESTING_REPLAY_TESTING_H_
