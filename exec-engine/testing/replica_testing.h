// For tests of folding (replica_folding.h): training runs whose data-parallel replicas are alike,
// or nearly.
#ifndef DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_
#define DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_

#include <cstdint>
#include <random>
#include <vector>

#include "core/model/topology.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock::testing {

inline constexpr int kReplicaGpus = 4;  // of a host

// Ranks counted by tensor, then data, then pipeline, as Megatron has them.
struct Layout {
  int tensor = 4, data = 4, stages = 2;
  int ranks() const { return tensor * data * stages; }
  int hosts() const { return ranks() / kReplicaGpus; }
  int stage_of(int rank) const { return rank / (tensor * data); }
  std::vector<std::vector<int>> TensorGroups() const;
  std::vector<std::vector<int>> DataGroups() const;
  // From each stage of this parity to the next.
  std::vector<std::vector<int>> Pairs(int first_stage) const;
};
Layout RandomLayout(std::mt19937* random);

// Micro-batches through the stages, sums of gradients beside them, and a sum at the end; ranks of a
// stage are of one class, and calls are planned. All hosts of a stage run the same on one switch.
WorkloadBuilder ReplicasOnOneSwitch(const Layout& layout, uint32_t seed);
// The same over leaves of two hosts and a spine, the first leaf with `first_leaf` of them, with
// sums round rings whose last chunks are shorter, and short sums over a chain of all ranks at the
// end: all hosts are different, if only by little.
WorkloadBuilder ReplicasThatDiffer(const Layout& layout, uint32_t seed, int first_leaf);

}  // namespace drydock::testing

#endif  // DRYDOCK_EXEC_ENGINE_TESTING_REPLICA_TESTING_H_
