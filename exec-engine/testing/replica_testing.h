// For tests of folding (replica_folding.h): training runs whose data-parallel replicas are
// equivalent, or differ a little.
#ifndef DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_
#define DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_

#include <cstdint>
#include <random>
#include <vector>

#include "core/model/topology.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock::testing {

inline constexpr int kReplicaGpus = 4;  // per host

// Ranks are numbered by tensor, then data, then pipeline group, as in Megatron.
struct Layout {
  int tensor = 4, data = 4, stages = 2;
  int ranks() const { return tensor * data * stages; }
  int hosts() const { return ranks() / kReplicaGpus; }
  int stage_of(int rank) const { return rank / (tensor * data); }
  std::vector<std::vector<int>> TensorGroups() const;
  std::vector<std::vector<int>> DataGroups() const;
  // Pairs of ranks, from each stage of this parity to the next stage.
  std::vector<std::vector<int>> Pairs(int first_stage) const;
};
Layout RandomLayout(std::mt19937* random);

// Makes the ranks of a stage one rank class, with the program of its first rank.
void MergeClasses(const Layout& layout, WorkloadBuilder* b);

// Micro-batches run through the stages, with all-reduces of gradients in parallel and at the end.
// The ranks of a stage form one rank class, and all calls have plans. All hosts are on one switch,
// so that the hosts of a stage are equivalent.
WorkloadBuilder ReplicasOnOneSwitch(const Layout& layout, uint32_t seed);
// The same over a spine and leaves with two hosts each; the first leaf has `first_leaf` hosts.
// The last chunks of rings are shorter, and short all-reduces over a chain of all ranks follow at
// the end. All hosts differ a little.
WorkloadBuilder ReplicasThatDiffer(const Layout& layout, uint32_t seed, int first_leaf);

// The same as ReplicasOnOneSwitch, in NVLink domains of `trays` trays, each with kReplicaGpus GPUs.
// Every domain belongs to one stage. If `apart`, there are no micro-batches: each stage computes,
// sums over its tensor group and sends once, and gradients are summed when nothing else runs.
WorkloadBuilder ReplicasInDomains(const Layout& layout, uint32_t seed, int trays, bool apart);

}  // namespace drydock::testing

#endif  // DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_
