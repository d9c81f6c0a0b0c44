// What one rank of a captured program does in one iteration, in the order of issue.
//
// A tape speaks of the rank as its program does: of process groups and of positions in them. So the
// tape of one rank can stand for the others of its class (capture/classes). Plain data.
#ifndef DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_
#define DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_

#include <cstdint>
#include <map>
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
  int group = 0;             // index into RankTape::groups; -1: nobody told who its members are
  std::vector<int> members;  // positions in the group: all of them, or the two ends of messages
  Time made;                 // since the start of the process; after the iteration, too
};

// Where the program is when it issues an entry; as in Op.
struct TapePlace {
  Phase phase = Phase::kOther;
  int32_t layer = -1;
  int32_t microbatch = -1;
  HostWait host_waits = HostWait::kNothing;
  GraphPart graph = GraphPart::kNone;
  // A kWork entry that copies to or from the host: index into RankTape::transfers. -1: the entry
  // has a block.
  int32_t transfer = -1;
  bool stores = false;  // of a transfer: from the GPU
};

// Kernels whose time is not that of a model of them, but of the bytes that their operator reads and
// writes.
struct TapeEstimate {
  int64_t launches = 0;
  Bytes bytes;  // of all launches
  // Launches of which nothing is known but their grid: they take what an empty kernel takes.
  int64_t unknown = 0;
};

// Reads of the host's from the GPU that are alike, of values that nobody computed: they are zero,
// or follow from zeros and from choices that are equally frequent. The program may branch on them.
struct TapeRead {
  std::string line;    // "train.py:41", the innermost of the user's; "": unknown
  std::string shape;   // "fp32[]"
  std::string origin;  // "aten::nll_loss_forward of Float[8192,32000]": what made it unknown, or ""
  std::string value;   // "0", if it is one number and always the same
  int64_t count = 0;   // in the whole run of the program
  bool IsLike(const TapeRead& other) const {
    return line == other.line && shape == other.shape && origin == other.origin;
  }
};

// What the program did before the iteration.
struct TapeStart {
  int iterations = 0;  // of the program, in all
  int iteration = 0;   // which of them this is, from 1
  Time wall;           // from the start of the process to the iteration, on this machine
  int64_t launches = 0, products = 0, calls = 0;
};

// The host's own time between what it issues, measured on this machine.
struct TapeHost {
  Time blocks;            // before entries that have blocks: the sum of Submodule::host
  Time calls;             // before calls of NCCL
  int64_t groups = 0;     // of calls: each is one launch
  std::string processor;  // of this machine: "AMD EPYC 7742 64-Core Processor"
  bool is_alone = false;  // measured in a run that recorded nothing else
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
  std::vector<MemoryTransfer> transfers;
  // Of most of fused attention (core/model/attention_backend.h); empty if there is none.
  std::string attention_backend;
  PyTorchPeaks memory;  // of the whole program; 0: unknown
  TapeStart start;
  TapeHost host;
  std::map<std::string, TapeEstimate> estimates;  // by kernel
  std::vector<TapeRead> reads;                    // the commonest first
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_RANK_TAPE_H_
