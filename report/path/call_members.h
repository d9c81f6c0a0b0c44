// Finds the participants of one use of a communication call: the ops on other ranks that belong to
// the same collective, or are the other end of the same message. The first query of a rank makes
// its table. Ranks of one class share a table if the same roles of each rank have the same group.
// Not thread-safe.
#ifndef DRYDOCK_REPORT_PATH_CALL_MEMBERS_H_
#define DRYDOCK_REPORT_PATH_CALL_MEMBERS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/model/calls/call_numbers.h"
#include "core/model/workload.h"

namespace drydock {

class CallMembers {
 public:
  // REQUIRES: `workload` has its programs and outlives this.
  explicit CallMembers(const Workload& workload);

  struct Member {
    int rank = 0;
    uint32_t op = 0;
    bool operator==(const Member&) const = default;
  };
  // Returns the participants in the order of the communicator, the rank itself included.
  // REQUIRES: `op` of `rank` communicates.
  std::vector<Member> Of(int rank, uint32_t op);

 private:
  // For each role of a rank, the first role with the same group.
  using Roles = std::vector<int16_t>;  // by role; -1: the rank is in no such group
  struct Entry {
    int16_t role = 0;
    uint64_t number = 0;  // of the call on the communicator (call_numbers.h)
    uint32_t op = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct Table {
    std::vector<uint64_t> number;  // by op
    std::vector<Entry> entries;    // sorted
  };

  Roles RolesOf(int rank) const;
  const Table& TableOf(int rank);
  Table MakeTable(int rank, const Roles& roles) const;

  const Workload& workload_;
  std::vector<MessageName> names_;
  std::map<std::pair<int, Roles>, Table> tables_;  // by class and roles
  std::vector<const Table*> table_of_rank_;        // null: no query yet
};

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PATH_CALL_MEMBERS_H_
