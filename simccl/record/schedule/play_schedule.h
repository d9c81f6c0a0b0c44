// `nccl-record --schedule`: plays a workload on NCCL, with all ranks on this machine, and records
// it.
#ifndef DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAY_SCHEDULE_H_
#define DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAY_SCHEDULE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/run/session.h"

namespace drydock {

struct PlayedWorkload {
  Workload workload;
  size_t calls = 0, communicators = 0;  // of NCCL, over all ranks
  size_t bypassing = 0;                 // communication ops of all ranks that bypass NCCL
};

// Returns the path of the program that plays the ranks. `libraries` is RecordOptions::libraries.
std::string ScheduleProgram(const std::string& libraries);

// Plays the schedule; ignores options.command. Fails as RecordProgram does, and if the calls of the
// ranks do not match; that error names the ranks and the ops.
Result<PlayedWorkload> PlaySchedule(const Workload& schedule, RecordOptions options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAY_SCHEDULE_H_
