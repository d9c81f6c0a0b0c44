// Which call of its communicator an op is: the same number on every member, so that ranks that
// never speak of it agree. Collectives count up; sends and receives are numbered by tag, sender and
// receiver, groups of them by their call, and by occurrence where these repeat.
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

// What tells a message from others of its group, but for how often it occurred before: tag, sender,
// receiver; of a group of messages tag, -1, index of the call.
using MessageName = std::tuple<int32_t, int, int>;

// The distinct names of all programs' messages, sorted, so that each can be told by a small number.
std::vector<MessageName> SortedNames(const Workload& workload);

// Numbers the communication ops of one rank, which are given in program order.
class CallCounter {
 public:
  // `names` are those of all messages there are (SortedNames); they outlive the counter.
  explicit CallCounter(const std::vector<MessageName>& names) : names_(names) {}

  // `call` is the op's. Collectives get even numbers, messages odd.
  uint64_t Next(int group, const Op& op, const CommCall& call);

 private:
  const std::vector<MessageName>& names_;
  std::map<int, uint64_t> collectives_;                       // by group
  std::map<std::pair<int, uint64_t>, uint64_t> occurrences_;  // by group, name
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_NUMBERS_H_
