// What one rank's ops wait for, kept up as the program issues them: streams, events, the default
// stream, and what the program itself has waited for.
//
// - calls on one stream run one after another;
// - a stream that waits for an event waits for what its stream had been given when it was recorded;
// - the default stream waits for all streams that do not say otherwise, and they for it;
// - when the program itself waits (cudaStreamSynchronize and its like), everything it issues later
//   comes after what it waited for.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_ORDER_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_ORDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/workload.h"
#include "core/nccl/recording.h"

namespace drydock {

class RecordOrder {
 public:
  using Ops = std::vector<uint32_t>;  // indices into Program::ops

  // `program` outlives this and holds every op that is named to it.
  explicit RecordOrder(const Program* program) : program_(*program) {}

  // Everything in the log but calls.
  void Note(const RecordEntry& entry);

  // What a call on the entry's stream comes after.
  Ops Before(const RecordEntry& call);
  // What comes next on the entry's stream comes after `last`, which comes after Before(call).
  void Issued(const RecordEntry& call, const Ops& last) { TrackOf(call).tail = last; }

  // Of ops on one of the workload's streams the last stands for all.
  Ops Newest(const Ops& ops) const;

 private:
  // A stream of the program's.
  struct Track {
    bool blocks = false;  // waits for the default stream, and it for this
    Ops tail;             // whatever comes next on it comes after these
  };
  Track& TrackOf(const RecordEntry& entry);
  Ops IssuedOn(const RecordEntry& entry);

  const Program& program_;
  std::map<uint64_t, Track> tracks_;  // by stream
  std::map<uint64_t, Ops> events_;
  Ops host_;  // whatever the program issues next comes after these
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_ORDER_H_
