#include "simccl/record/schedule/play_schedule.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "simccl/record/log/match.h"
#include "simccl/record/log/recording.h"
#include "simccl/record/schedule/encode_schedule.h"
#include "simccl/record/schedule/played_schedule.h"

namespace drydock {
namespace {

// Runs the ranks. Returns the folder of their logs.
Result<StagedDirectory> Play(const Workload& schedule, const RecordOptions& given) {
  std::error_code ignored;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  ASSIGN_OR_RETURN(StagedDirectory folder,
                   StagedDirectory::Create((temporary.empty() ? "/tmp" : temporary.string()) +
                                           "/nccl-schedule"));
  RETURN_IF_ERROR(folder.Write("schedule", EncodeRankSchedule(schedule)));
  RecordOptions options = given;
  options.command = {ScheduleProgram(options.libraries), folder.path() + "/schedule",
                     folder.path() + "/id", std::to_string(options.ranks),
                     std::to_string(options.gpus_per_process)};
  return RecordProgram(schedule.topology, options);
}

size_t CountBypassing(const Workload& workload) {
  std::vector<size_t> of_class;
  for (const Program& program : workload.programs) {
    of_class.push_back(static_cast<size_t>(
        std::count_if(program.ops.begin(), program.ops.end(), [&workload](const Op& op) {
          return IsCommunication(op.kind) && !CallsNccl(workload, op);
        })));
  }
  size_t count = 0;
  for (const int rank_class : workload.class_of_rank) {
    count += of_class[static_cast<size_t>(rank_class)];
  }
  return count;
}

}  // namespace

std::string ScheduleProgram(const std::string& libraries) {
  return DirectoryOf(libraries) + "/bin/nccl-schedule";
}

Result<PlayedWorkload> PlaySchedule(const Workload& schedule, RecordOptions options) {
  ASSIGN_OR_RETURN(const StagedDirectory logs, Play(schedule, options));
  std::vector<int> hosts;
  for (const RecordProcess& process : PlanProcesses(schedule.topology, options)) {
    hosts.push_back(process.host);
  }
  PlayedSchedule played(schedule);
  const auto take = [&played](int rank, RecordedRank* recorded) {
    return played.Take(rank, recorded);
  };
  ASSIGN_OR_RETURN(Recording recording, ReadRecording(logs.path(), hosts, schedule.topology, take));
  RETURN_IF_ERROR(MatchCalls(&recording, [&](int rank, const RecordEntry& call) {
    return ScheduledPlace(schedule, rank, call.event);
  }));
  PlayedWorkload made;
  ASSIGN_OR_RETURN(made.workload, played.Finish(recording));
  made.bypassing = CountBypassing(made.workload);
  made.communicators = recording.communicators.size();
  for (const RecordedRank& rank : recording.ranks) made.calls += rank.entries.size();
  return made;
}

}  // namespace drydock
