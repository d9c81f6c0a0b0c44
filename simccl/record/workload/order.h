// Tracks what one rank's ops wait for, while the program issues them: streams, events, the default
// stream, and the waits of the host.
//
// - Calls on one stream run one after another.
// - A stream that waits for an event waits for the work that the event's stream had when the event
//   was recorded.
// - The default stream and every stream that is not created as non-blocking wait for each other.
// - When the host waits (cudaStreamSynchronize and similar), every op that it issues later
//   comes after the ops that it waited for.
#ifndef DRYDOCK_SIMCCL_RECORD_WORKLOAD_ORDER_H_
#define DRYDOCK_SIMCCL_RECORD_WORKLOAD_ORDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/workload.h"
#include "core/nccl/recording.h"

namespace drydock {

class RecordOrder {
 public:
  using Ops = std::vector<uint32_t>;  // indices into Program::ops

  // `program` must outlive this object and hold every op that is passed to it.
  explicit RecordOrder(const Program* program) : program_(*program) {}

  // Takes an entry of the log that is not a call.
  void Note(const RecordEntry& entry);

  // Returns the ops that a call on the entry's stream comes after.
  Ops Before(const RecordEntry& call);
  // Notes that `last`, which come after Before(call), are now the last ops on the entry's stream.
  void Issued(const RecordEntry& call, const Ops& last) { TrackOf(call).tail = last; }

  // Keeps only the last op on each stream of the workload.
  Ops Newest(const Ops& ops) const;

 private:
  // A stream of the program.
  struct Track {
    bool blocks = false;  // this stream and the default stream wait for each other
    Ops tail;             // the next op on the stream comes after these
  };
  Track& TrackOf(const RecordEntry& entry);
  Ops IssuedOn(const RecordEntry& entry);

  const Program& program_;
  std::map<uint64_t, Track> tracks_;  // by stream
  std::map<uint64_t, Ops> events_;
  Ops host_;  // the next op that the host issues comes after these
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_WORKLOAD_ORDER_H_
