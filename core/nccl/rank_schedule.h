// The NCCL calls of a workload's ranks. `nccl-record --schedule` writes the file for the program
// that it runs as these ranks (simccl/hacknccl/schedule); each process maps the file. Both programs
// are of the same build, so the file has structs as they are in memory, without versions.
//
// The file is a RankSchedule and the arrays that it names. Counts are in elements. The comment of
// an index names the array it points into.
#ifndef DRYDOCK_CORE_NCCL_RANK_SCHEDULE_H_
#define DRYDOCK_CORE_NCCL_RANK_SCHEDULE_H_

#include <cstdint>

#include "core/nccl/hacknccl_plan.h"

namespace drydock {

template <typename T>
struct ScheduleArray {
  uint64_t offset = 0;  // bytes from the beginning of the file
  uint64_t count = 0;

  const T* In(const char* file) const { return reinterpret_cast<const T*>(file + offset); }
};

// A rank's membership in a split of the world.
struct SchedulePart {
  int32_t color = -1;  // the group; -1: the rank is in no group of this split
  int32_t member = 0;  // the rank's place in it
  int32_t members = 0;
};

// A program that the ranks of a class run. The classes follow one another in the arrays.
struct ScheduleClass {
  uint64_t op_begin = 0, op_end = 0;  // ops
  uint64_t wait_begin = 0;            // waits of its first op
  uint64_t events = 0;                // number of events
};

enum class ScheduleWait : uint8_t { kNothing, kStream, kDevice };

struct ScheduleOp {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t name = 0;                           // texts
  uint32_t call = kNone;                       // calls; kNone: no NCCL call
  uint32_t event = kNone;                      // recorded after it; kNone: no op waits for it
  uint32_t waits = 0;                          // number of events its stream waits for
  uint8_t stream = 0;                          // 0 is the default stream
  uint8_t role = 0;                            // index into communicators
  ScheduleWait host = ScheduleWait::kNothing;  // what the host waits for before it
};

// The calls of a communicator's members, each member's in one group. Member m makes the parts of
// members[first + m], or, if `same_for_all`, the parts of members[first].
struct ScheduleCall {
  uint32_t first = 0;
  uint32_t same_for_all = 0;
};
struct ScheduleMember {
  uint64_t begin = 0, end = 0;  // parts
};

struct RankSchedule {
  int32_t ranks = 0, splits = 0, roles = 0, streams = 0;
  uint64_t registered_bytes = 0, symmetric_bytes = 0;  // the largest buffer of such calls
  ScheduleArray<int32_t> first_rank_of_host;
  ScheduleArray<int32_t> class_of_rank;
  // [split * ranks + rank]; the program makes the splits in this order.
  ScheduleArray<SchedulePart> splits_of_world;
  // [rank * roles + role]: 0 the world, k + 1 from split k, -1 none.
  ScheduleArray<int32_t> communicators;
  ScheduleArray<ScheduleClass> classes;
  ScheduleArray<ScheduleOp> ops;
  ScheduleArray<uint32_t> waits;  // numbers of events
  ScheduleArray<ScheduleCall> calls;
  ScheduleArray<ScheduleMember> members;
  ScheduleArray<hacknccl_call> parts;
  ScheduleArray<char> texts;  // each ends with a zero byte
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_RANK_SCHEDULE_H_
