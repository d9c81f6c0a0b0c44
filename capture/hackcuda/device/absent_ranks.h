// Who belongs to the communicators of the program. NCCL knows only how many ranks a communicator
// has; the framework knows which, and its hooks tell (hooks.h). Answers for the ranks that are not
// here (core/nccl/capture.h).
//
// Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ABSENT_RANKS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ABSENT_RANKS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock::hackcuda {

using Ranks = std::vector<int32_t>;

// `group`: the name that the framework gives the group; may be empty.
void NameKey(uint64_t key, Ranks ranks, std::string group = {});
void ExpectGroup(Ranks ranks, std::string group = {});

// Returns "0-3,8,16-64:8", which is short for the ranks of a grid.
std::string ListOf(const Ranks& ranks);

// A name that a communicator has in the processes of all its members, by its number in the log.
// Empty if nobody told who they are.
std::string CommunicatorName(uint64_t communicator);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ABSENT_RANKS_H_
