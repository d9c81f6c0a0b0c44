// The least time of an op, over any network. A collective takes at least the bytes that a member,
// or a member's host, has to take in from the others, over the rate at which it takes data;
// reduction in switches cannot lower this. Ranks of one class on a host do the same at the same
// time, and share the host's NICs. Compute takes its kernels' time, without the gaps between them.
// Latencies, launches, contention and protocols only add.
#ifndef DRYDOCK_STUDY_SEARCH_LEAST_TIMES_H_
#define DRYDOCK_STUDY_SEARCH_LEAST_TIMES_H_

#include <map>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// Of a collective in a group of these ranks. `beside`: on each host with a member, so many groups
// with as many members there make the call at the same time, this one included.
Time LeastTime(const CommCall& call, const std::vector<int>& ranks, const Topology& topology,
               const Placement& placement, int beside = 1);

// Of the ops of a workload. `times`: of this workload, without the variation of a cluster that has
// one. Both must outlive this object. Not thread-safe: it keeps what it has worked out.
class LeastTimes {
 public:
  LeastTimes(const Workload& workload, const KernelTimes& times);

  const Workload& workload() const { return workload_; }
  const Program& ProgramOf(int rank) const { return workload_.programs[ClassOf(rank)]; }
  size_t ClassOf(int rank) const {
    return static_cast<size_t>(workload_.class_of_rank[static_cast<size_t>(rank)]);
  }
  int GroupOf(int rank, const Op& op) const {
    return workload_.group_of_rank[op.role][static_cast<size_t>(rank)];
  }

  // Zero for a send and a receive.
  Time Of(int rank, const Op& op);
  // From the start of a send to the end of its receive.
  Time WireTime(const Op& op, int sender, int receiver);
  // Sender and receiver of a send or a receive of `rank`.
  std::pair<int, int> EndsOf(int rank, const Op& op) const;

 private:
  Time ComputeTime(size_t gpu, const Op& op) const;
  // The groups of this role with a member on the rank's host, whose members there are of the rank's
  // class.
  int GroupsBeside(int rank, uint8_t role);
  const std::vector<int>& Members(int group) const {
    return workload_.groups[static_cast<size_t>(group)].ranks;
  }

  const Workload& workload_;
  const KernelTimes& times_;
  const Placement placement_;
  std::map<std::pair<size_t, uint32_t>, Time> compute_;   // by GPU and block
  std::map<std::pair<uint8_t, int>, int> beside_;         // by role and group
  std::map<std::pair<uint32_t, int>, Time> collectives_;  // by call and group
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LEAST_TIMES_H_
