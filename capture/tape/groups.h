// The process groups and communicators of a captured rank.
#ifndef DRYDOCK_CAPTURE_TAPE_GROUPS_H_
#define DRYDOCK_CAPTURE_TAPE_GROUPS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/log/log_file.h"
#include "capture/tape/rank_tape.h"
#include "core/base/result.h"

namespace drydock::capture {

// Returns the ranks of "0-3,8,16-64:8", as hackcuda/device/absent_ranks.h writes them; none if the
// text is something else.
std::vector<int> RanksOf(std::string_view list);

struct LogGroups {
  std::vector<TapeGroup> groups;                // in the order in which the program made them
  std::vector<TapeCommunicator> communicators;  // in the order in which the rank joined them
  std::unordered_map<int64_t, int> by_number;   // of the log -> communicators
};

// A communicator belongs to the group that its key names, or else to the group of the same ranks
// that the program was making. A communicator of NCCL's that no group explains is a group of its
// own. The error names a communicator whose members are not known.
Result<LogGroups> ReadGroups(const ProcessLog& log);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_GROUPS_H_
