// Reads what a recorded program called, rank by rank, from the logs of its processes
// (core/nccl/recording.h). A rank is a GPU of the cluster; any process or thread may drive it.
#ifndef DRYDOCK_SIMCCL_RECORD_LOG_RECORDING_H_
#define DRYDOCK_SIMCCL_RECORD_LOG_RECORDING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/nccl/recording.h"

namespace drydock {

struct RecordedCommunicator {
  std::vector<int> ranks;  // by member
  // Ranks that make the same collectives may be left out, and no others. Then `rank` of a call is
  // an index into `ranks`, and this is the number of members; 0: all are there.
  int all = 0;
  int members() const { return all > 0 ? all : static_cast<int>(ranks.size()); }
};

// The log of one rank. An entry names its communicator by index, not by serial.
struct RecordedRank {
  std::vector<RecordEntry> entries;  // in the order they were issued
  std::vector<uint64_t> joined;      // communicators, in the order in which the rank joined them
  uint64_t kernels = 0;              // launches of the program's own kernels
  uint64_t copies = 0;
};

// Communicators are sorted by their members, and communicators with the same members by the order
// in which the members made them, so that the same program gets the same numbers every time.
struct Recording {
  std::vector<RecordedCommunicator> communicators;
  std::vector<RecordedRank> ranks;  // by GPU of the cluster
};

// Called for each rank as soon as its log has been read, while entries still name communicators by
// serial. May drop entries, so that the entries of all ranks are never in memory at once. An error
// ends the reading.
using RankReader = std::function<Status(int rank, RecordedRank* recorded)>;

// Reads the logs in `folder`. `host_of_process` has the host of each process. Errors: two processes
// used the same GPU, a rank of a communicator has no log, a log is truncated or damaged.
Result<Recording> ReadRecording(const std::string& folder, const std::vector<int>& host_of_process,
                                const Topology& topology, const RankReader& read_rank = nullptr);

// Returns "ranks 0, 1, 2, 3, ...".
std::string ListRanks(const std::vector<int>& ranks);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_LOG_RECORDING_H_
