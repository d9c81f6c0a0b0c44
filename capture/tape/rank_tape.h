// What one rank of a captured program does in one iteration, in the order of issue.
//
// A tape speaks of the rank as its program does: of process groups and of positions in them. So the
// tape of one rank can stand for the others of its class (capture/classes). Plain data.
#ifndef DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_
#define DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"
#include "core/nccl/recording.h"

namespace drydock::capture {

// A process group of the program. Every rank of the world makes all of them in the same order.
struct TapeGroup {
  std::string name;         // PyTorch's; one of its kind
  std::string description;  // "TENSOR_MODEL_PARALLEL_GROUP"; empty if the program gives none
  std::vector<int> ranks;   // of the world, by position
};

// A communicator of NCCL's that the rank has joined.
struct TapeCommunicator {
  int group = 0;             // index into RankTape::groups
  std::vector<int> members;  // positions in the group: all of them, or the two ends of messages
};

// Where the program is when it issues an entry; as in Op.
struct TapePlace {
  Phase phase = Phase::kOther;
  int32_t layer = -1;
  int32_t microbatch = -1;
};

struct RankTape {
  int rank = 0, world = 1;
  std::vector<TapeGroup> groups;  // of the world, also those without this rank
  std::vector<TapeCommunicator> communicators;
  // Calls, streams, events, waits of the host, and work of the GPU. `communicator` is an index into
  // `communicators`; `count` of a kWork entry is an index into `blocks`.
  std::vector<RecordEntry> entries;
  std::vector<TapePlace> places;  // by entry
  std::vector<Submodule> submodules;
  std::vector<ComputeBlock> blocks;
  PyTorchPeaks memory;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_
