// Fuzz targets for workload-gen's importers of other tools' files and for exploded traces.
#ifndef DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// The input is rank 0's Chakra trace; rank 1's trace is valid.
void ForeignJson(const std::string& input);
std::vector<std::string> ForeignJsonSeeds();
void ForeignTrace(const std::string& input);
std::vector<std::string> ForeignTraceSeeds();
// The input is the group file of two valid traces.
void ForeignGroups(const std::string& input);
std::vector<std::string> ForeignGroupsSeeds();
void SimaiWorkload(const std::string& input);
std::vector<std::string> SimaiWorkloadSeeds();
// A physical workload of AICB, or its log.
void AicbWorkload(const std::string& input);
std::vector<std::string> AicbWorkloadSeeds();
void InventoryOf(const std::string& input);
std::vector<std::string> InventorySeeds();
void GoalSchedule(const std::string& input);
std::vector<std::string> GoalScheduleSeeds();
// The input is an exploded trace.
void RankTrace(const std::string& input);
std::vector<std::string> RankTraceSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_GRAPH_TARGET_H_
