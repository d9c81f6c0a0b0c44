// A workload played on NCCL, all its ranks on this machine, and recorded: `nccl-record --schedule`.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_RUN_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_RUN_H_

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/record_session.h"

namespace drydock {

struct PlayedWorkload {
  Workload workload;
  size_t calls = 0, communicators = 0;  // of NCCL, over all ranks
  size_t past_nccl = 0;                 // ops of all ranks that communicate without it
};

// The program that is run as the ranks, of a folder as RecordOptions::libraries.
std::string ScheduleProgram(const std::string& libraries);

// `options` without a command. Errors are those of RecordProgram; of calls that do not fit together
// they name the ranks and the ops.
Result<PlayedWorkload> PlaySchedule(const Workload& schedule, RecordOptions options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_RUN_H_
