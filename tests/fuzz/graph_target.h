// What other tools write, given to workload-gen's importers; and exploded traces.
#ifndef DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Rank 0's Chakra trace; rank 1's is right.
void ForeignTrace(const std::string& input);
std::vector<std::string> ForeignTraceSeeds();
// The groups beside two traces that are right.
void ForeignGroups(const std::string& input);
std::vector<std::string> ForeignGroupsSeeds();
void SimaiWorkload(const std::string& input);
std::vector<std::string> SimaiWorkloadSeeds();
void GoalSchedule(const std::string& input);
std::vector<std::string> GoalScheduleSeeds();
// An exploded trace.
void RankTrace(const std::string& input);
std::vector<std::string> RankTraceSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_
