// How large the checkpoint of a run is, and how long storage needs for it.
//
// A checkpoint has the parameters and the optimizer's states once. A rank that restarts reads all
// that it holds. Sizes are those of the run's memory model.
#ifndef DRYDOCK_STUDY_GOODPUT_CHECKPOINT_H_
#define DRYDOCK_STUDY_GOODPUT_CHECKPOINT_H_

#include <optional>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/workload.h"

namespace drydock {

struct CheckpointSize {
  double written = 0;    // bytes of a checkpoint
  double read = 0;       // bytes that all ranks read together
  double host_read = 0;  // of the host that reads most
};

// `stated`: the bytes of a checkpoint, in place of the model's; every rank then reads its share.
// Absent if the workload states no memory.
std::optional<CheckpointSize> SizeOfCheckpoint(const Workload& workload,
                                               std::optional<Bytes> stated);

// In seconds.
struct CheckpointTimes {
  double write = 0;
  double read = 0;
  double snapshot = 0;  // a GPU copies its share to the host's memory
};

// Errors: the file of host memory cannot be read. REQUIRES: the topology states its storage.
Result<CheckpointTimes> TimesOf(const CheckpointSize& size, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_CHECKPOINT_H_
