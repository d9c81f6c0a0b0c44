// Data-parallel replicas inside NVLink domains of several trays. A domain is one host of the
// cluster file, so a domain that holds one pipeline stage of many replicas is like no other, and
// folding by hosts (host_equivalence_classes.h) leaves all of its GPUs. Here ranks are folded.
//
// A cell is a set of whole trays whose ranks make calls with each other in all roles but those of
// data-parallel and world groups: a replica of the model, or some replicas. Cells are alike if
// their ranks, in order, run the same programs on the same places of trays, and are in the same
// groups. The first of the cells that are alike represents the others.
//
// A group with ranks of several cells is joint. Its calls are not replayed among representatives,
// because these are not all of its members. They take the times that the whole call takes alone
// (joint_calls.h).
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_RANK_REPLICAS_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_RANK_REPLICAS_H_

#include <optional>
#include <vector>

#include "core/model/variation.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

struct RankReplicas {
  std::vector<int> representative;  // by rank
  std::vector<bool> joint;          // by group
  int replayed = 0;                 // ranks that represent themselves
};

// Returns no value if some host has one tray, if ranks use the memory of their hosts, if GPUs
// differ in speed or at random, or if no two cells are alike.
std::optional<RankReplicas> FindRankReplicas(const ReplayIndex& index, const Variation& variation);

// Returns the workload with empty programs for all ranks that do not represent themselves.
Workload WithoutReplicas(const Workload& workload, const RankReplicas& replicas);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_RANK_REPLICAS_H_
