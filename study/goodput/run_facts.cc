#include "study/goodput/run_facts.h"

#include <numeric>
#include <set>
#include <utility>

#include "core/model/timeline.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {

Result<RunFacts> ReadRunFacts(const std::string& run) {
  ASSIGN_OR_RETURN(WorkloadFile file, ReadWorkload(run, WorkloadParts::kTables));
  ASSIGN_OR_RETURN(const Timeline timeline, ReadTimeline(run, file));
  if (timeline.stopped > Time()) {
    return Error("the run was stopped before its end; run exec-engine again without --until",
                 {run, 0, 0});
  }
  RunFacts facts;
  facts.run = run;
  facts.network = timeline.network;
  const std::vector<Time>& each = timeline.iterations;
  const Time sum = std::accumulate(each.begin(), each.end(), Time());
  facts.step = each.empty() ? timeline.iteration.seconds()
                            : sum.seconds() / static_cast<double>(each.size());
  if (facts.step <= 0) {
    return Error("an iteration takes no time; run exec-engine again", {run, 0, 0});
  }
  facts.workload = std::move(file.workload);
  return facts;
}

CommunicatorCount CommunicatorsOf(const Workload& workload) {
  // A group may have several roles.
  std::set<uint32_t> used;
  for (const Workload::Use& use : workload.uses) used.insert(use.group);
  std::vector<CommunicatorCount> by_rank(static_cast<size_t>(workload.rank_count()));
  for (const uint32_t group : used) {
    const std::vector<int>& ranks = workload.groups[group].ranks;
    if (ranks.size() < 2) continue;
    for (const int rank : ranks) {
      CommunicatorCount& count = by_rank[static_cast<size_t>(rank)];
      ++count.communicators;
      count.members += static_cast<int64_t>(ranks.size());
    }
  }
  CommunicatorCount most;
  for (const CommunicatorCount& count : by_rank) {
    if (std::pair(count.members, count.communicators) >
        std::pair(most.members, most.communicators)) {
      most = count;
    }
  }
  return most;
}

}  // namespace drydock
