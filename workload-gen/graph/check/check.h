// Proves that a workload can run (`workload-gen check`), in four steps:
//
//   structure   Ops depend on earlier ops only, and their indices are valid. Each program is run by
//               at least one rank. The table of uses lists exactly the calls that the groups make.
//   groups      Each op's rank has a group of the call's size. A message names its own member as
//               sender or receiver, and another member as the peer.
//   matching    All members of a group make the same collectives in the same order. Each send has
//               one receive of the same communicator, tag and size. Messages between two members
//               are received in the order in which they are sent.
//   progress    A replay without time ends every op of every rank, across all communicators and
//               with the waits of hosts.
//
// A step is skipped if an earlier step fails. Equivalent ranks are checked once
// (core/model/calls/rank_classes.h): 16,384 ranks take as long as their few dozen classes.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Collects violations: counts all of them and keeps the first kMaxViolations.
inline constexpr size_t kMaxViolations = 50;
class Violations {
 public:
  void Add(std::string text) {
    if (texts_.size() < kMaxViolations) texts_.push_back(std::move(text));
    ++count_;
  }
  size_t count() const { return count_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  size_t count_ = 0;
};

struct CheckReport {
  // Each text names a rank, an op and the violated rule.
  Violations violations;
  // Remarks that are not violations: the workload ends only if messages fit into NCCL's buffers.
  std::vector<std::string> notes;
  // The numbers of checked items.
  size_t rank_classes = 0, ops = 0, collectives = 0, messages = 0;
};

CheckReport CheckWorkload(const Workload& workload);

// Returns "rank 3, op 17 (tp.all-reduce mb0 layer3)".
std::string OpPlace(const Workload& workload, int rank, uint32_t op);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_H_
