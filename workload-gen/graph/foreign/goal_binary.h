// GOAL schedules in LogGOPSim's binary form, which its txt2bin makes and ATLAHS's generators write:
//
//   u64 4223                              the magic number; places below count from its end
//   u32 ranks, u8 cpus, u8 nics           cpus and nics are the largest numbers in use
//   per rank: u64 begin, u64 end          ranks follow one another without gaps
//   rank: u32 ops, u32 roots, u32 root[], op[], u32 dependents[]
//   op: u32 dependencies, u8 kind (1 send, 2 receive, 3 calc), u32 peer, u64 bytes or ns, u32 tag,
//       u8 cpu, u8 nic, u32 count and u32 begin of the ops that wait for its end, and of those that
//       wait for its start
//
// All numbers are little-endian (LogGOPSim's Parser.hpp, serialize_mmap).
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GOAL_BINARY_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GOAL_BINARY_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

bool IsGoalBinary(const std::string& content);

// Returns the schedule as text, from which txt2bin makes the same file. Errors name the rank and
// the op, both from 0. REQUIRES: IsGoalBinary.
Result<std::string> GoalText(const std::string& content, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GOAL_BINARY_H_
