// The number of an op's call in its communicator, equal on every member. Collectives are numbered
// in program order. Sends and receives are identified by tag, sender and receiver, groups of
// messages by their tag and call; calls with one such name are numbered by occurrence.
#ifndef DRYDOCK_CORE_MODEL_CALLS_CALL_NUMBERS_H_
#define DRYDOCK_CORE_MODEL_CALLS_CALL_NUMBERS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

inline bool IsPointToPoint(const Op& op) {
  return op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
}

// Identifies a message of a group up to repetition: tag, sender, receiver. For a group of messages:
// tag, -1, index of the call.
using MessageName = std::tuple<int32_t, int, int>;

// Returns the distinct names of all programs' messages, sorted.
std::vector<MessageName> SortedNames(const Workload& workload);

// Numbers the communication ops of one rank. REQUIRES: calls of Next in program order.
class CallCounter {
 public:
  // `names`: of all messages (SortedNames). REQUIRES: `names` outlives the counter.
  explicit CallCounter(const std::vector<MessageName>& names) : names_(names) {}

  // `call`: the op's call. Collectives have even numbers, messages odd ones.
  uint64_t Next(int group, const Op& op, const CommCall& call);

 private:
  const std::vector<MessageName>& names_;
  std::map<int, uint64_t> collectives_;                       // by group
  std::map<std::pair<int, uint64_t>, uint64_t> occurrences_;  // by group, name
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_NUMBERS_H_
