// Launches that a script makes in parts: a launcher once on each host, ranks one by one.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_RANK_LAUNCHES_H_
#define DRYDOCK_CAPTURE_INTERCEPT_RANK_LAUNCHES_H_

#include <map>
#include <string>
#include <vector>

#include "capture/launch/call.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// Whether both start the same program. The host that calls them may differ.
bool SameLaunch(const Launch& a, const Launch& b);

// Names of the variables that differ between two launches, sorted. Variables that tell the host or
// the rank are left out.
std::vector<std::string> DifferentVariables(const Launch& a, const Launch& b);

// Turns `first`, the launch of one rank, into the launch of all ranks, given the launch of another
// rank. A word may differ only where it holds a number that follows from the rank. Adds to `notes`
// the variables and the folder that differ in any other way. Errors: words that differ in any other
// way.
Status MergeRanks(const Launch& other, int other_rank, Launch* first,
                  std::vector<std::string>* notes);

// The launches of programs that a script starts by itself or in a step. Ranks that are started one
// by one, in any order, belong to one launch; a rank that comes again begins the next.
class RankLaunches {
 public:
  RankLaunches(const ClusterSize& cluster, std::vector<std::string>* notes)
      : cluster_(cluster), notes_(notes) {}

  Status Add(const Call& call);
  // Errors: ranks whose commands differ in more than numbers of the rank.
  Result<std::vector<Launch>> Take() const;

 private:
  struct Group {
    int step = 0;  // 0: none
    std::map<int, Launch> ranks;
  };

  const ClusterSize& cluster_;
  std::vector<std::string>* notes_;
  std::vector<Group> groups_;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_RANK_LAUNCHES_H_
