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

// Whether both start the same, but for the host that they are called on.
bool SameLaunch(const Launch& a, const Launch& b);

// Variables in which two launches differ, but for those that tell the host or the rank; sorted.
std::vector<std::string> DifferentVariables(const Launch& a, const Launch& b);

// Makes the launch of a command of which two ranks have been seen: what differs has to be a number
// of the rank. Adds to `notes` the variables and the folder that differ otherwise. Errors: words
// that differ otherwise.
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
