// Makes the workload of the whole world from one tape for each class of ranks.
#ifndef DRYDOCK_CAPTURE_CLASSES_WORLD_WORKLOAD_H_
#define DRYDOCK_CAPTURE_CLASSES_WORLD_WORKLOAD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/classes/class_tape.h"
#include "capture/classes/world_groups.h"
#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock::capture {

struct WorldClass {
  std::vector<int> ranks;  // sorted
  std::shared_ptr<const ClassTape> tape;
};

// Returns where the program of a class makes a call, ", train.py:12", or "" if unknown; `entry` is
// an index into the tape.
using LineOfCall = std::function<std::string(const ClassTape& tape, size_t entry)>;

// Returns whose dense rate products of this type take that no model of kernels knows: their own, or
// that of fp32, which comes next, if some GPU's file states none.
DataType TypeOfRate(DataType type, const Topology& topology);

// `gpu_of_rank`: of the cluster. Every rank of the world is in one class. The calls of all ranks
// are matched: an error says which ranks, which calls and, with `line`, where. GPUs without a rank
// get an empty program. Memory: the tapes twice, and all calls of one communicator of each kind
// that has messages.
Result<Workload> MakeWorldWorkload(const Topology& topology, const std::vector<int>& gpu_of_rank,
                                   const WorldGroups& groups,
                                   const std::vector<WorldClass>& classes,
                                   const LineOfCall& line = nullptr);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_WORLD_WORKLOAD_H_
