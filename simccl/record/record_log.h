// What a recorded program called, rank by rank: the logs of its processes (core/nccl/recording.h),
// read and sorted. A rank is a GPU of the cluster, whichever process or thread drove it.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_LOG_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_LOG_H_

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
};

// An entry of the log in which the communicator is an index instead of a serial.
struct RecordedRank {
  std::vector<RecordEntry> entries;  // in the order they were issued
  std::vector<uint64_t> joined;      // communicators, in the order in which the rank joined them
  uint64_t kernels = 0;              // launches of the program's own kernels
  uint64_t copies = 0;
};

// Communicators are numbered by their members, and among equal ones by the order in which these
// made them: the same program gives the same numbers.
struct Recording {
  std::vector<RecordedCommunicator> communicators;
  std::vector<RecordedRank> ranks;  // all GPUs of the cluster
};

// What is done with a rank as soon as it has been read, serials still in the place of indices; it
// may leave out entries, so that never all of them are in memory. Its error ends the reading.
using RankReader = std::function<Status(int rank, RecordedRank* recorded)>;

// `host_of_process` says where each process ran. Errors: a GPU that two processes used, a
// communicator some of whose ranks never came to be, a log that is cut.
Result<Recording> ReadRecording(const std::string& folder, const std::vector<int>& host_of_process,
                                const Topology& topology, const RankReader& read_rank = nullptr);

// "ranks 0, 1, 2, 3, ..."
std::string ListRanks(const std::vector<int>& ranks);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_LOG_H_
