// Whether a workload is one that can run: `workload-gen check`. Proven are
//
//   structure   ops depend on earlier ops only, and name what the tables have; some rank runs every
//               program; the table of uses lists each call in each group that makes it, no other
//   groups      each rank has a group of the right size wherever its program calls, sends as the
//               member that it is, and to another one
//   matching    members of a group make the same collectives in the same order; a send has its
//               receive, of the same communicator, tag and size, and the other way round; messages
//               between two members cross nowhere
//   progress    played without time, every op of every rank ends, across all communicators and with
//               what hosts wait for
//
// Each step presumes the ones before and is left out where one of them failed. Ranks to which the
// same happens are looked at once (core/model/calls/rank_classes.h): 16,384 ranks take as long as
// their few dozen classes.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Collects what is wrong: all of it is counted, the first kMostViolations are kept.
inline constexpr size_t kMostViolations = 50;
class Violations {
 public:
  void Add(std::string text) {
    if (texts_.size() < kMostViolations) texts_.push_back(std::move(text));
    ++count_;
  }
  size_t count() const { return count_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  size_t count_ = 0;
};

struct CheckReport {
  // Each names an op, a rank and what is missing.
  Violations violations;
  // True of this workload and no violation: it ends only while sends fit into NCCL's buffers.
  std::vector<std::string> notes;
  // What was looked at.
  size_t rank_classes = 0, ops = 0, collectives = 0, messages = 0;
};

CheckReport CheckWorkload(const Workload& workload);

// "rank 3, op 17 (tp.all-reduce mb0 layer3)".
std::string OpPlace(const Workload& workload, int rank, uint32_t op);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_
