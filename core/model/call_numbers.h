// Which call of its communicator an op is: the same number on every member, so that ranks that
// never speak of it agree. Collectives count up; sends and receives are numbered by direction and
// tag, and by occurrence where a tag repeats.
#ifndef DRYDOCK_CORE_MODEL_CALL_NUMBERS_H_
#define DRYDOCK_CORE_MODEL_CALL_NUMBERS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

inline bool IsPointToPoint(const Op& op) {
  return op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
}

// The distinct tags of all programs, sorted, so that a tag can be told by a small number.
std::vector<int32_t> SortedTags(const Workload& workload);

// Numbers the communication ops of one rank, which are given in program order.
class CallCounter {
 public:
  // `tags` are all tags there are (SortedTags); they outlive the counter.
  explicit CallCounter(const std::vector<int32_t>& tags) : tags_(tags) {}

  // `sender` is a member of the group; for a message. Collectives get even numbers, messages odd.
  uint64_t Next(int group, const Op& op, int sender);

 private:
  const std::vector<int32_t>& tags_;
  std::map<int, uint64_t> collectives_;                             // by group
  std::map<std::tuple<int, int, uint64_t>, uint64_t> occurrences_;  // by group, sender, tag
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALL_NUMBERS_H_
