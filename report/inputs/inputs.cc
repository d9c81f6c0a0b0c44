#include "report/inputs/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/trace_file.h"
#include "core/schema/memory/memory_curve_file.h"
#include "report/inputs/breakdown.h"

namespace drydock {
namespace {

constexpr const char* kRunAgain = "run exec-engine again";

Status CheckOps(const Inputs& inputs, int rank, const std::string& path) {
  const Program& program = inputs.program_of(rank);
  const RankTimeline& times = inputs.timeline_of(rank);
  const auto wrong = [&](size_t op, const std::string& what) {
    return Error(fmt::format("rank {}, op '{}': {}; {}", rank,
                             OpName(inputs.workload, program.ops[op]), what, kRunAgain),
                 {path, 0, 0});
  };
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (times.start[i] < Time() || times.ready[i] < times.start[i] ||
        times.end[i] < times.ready[i]) {
      return wrong(i, "it ends before it starts");
    }
    if (times.end[i] > inputs.timeline.iteration) return wrong(i, "it ends after the iteration");
    const Op& op = program.ops[i];
    if (!IsCommunication(op.kind)) continue;
    const int group = inputs.group_of(rank, op);
    if (group < 0 || inputs.plan_of(op.work, group) == nullptr) {
      return wrong(i, "the flow plan has no plan for this call in the rank's group");
    }
    if (op.kind == OpKind::kCollective) continue;
    const CommCall& call = inputs.workload.calls[op.work];
    const auto members =
        static_cast<int>(inputs.workload.groups[static_cast<size_t>(group)].ranks.size());
    if (std::min(call.root, call.peer) < 0 || std::max(call.root, call.peer) >= members) {
      return wrong(i, "its sender or receiver is not in the group");
    }
  }
  return OkStatus();
}

Status CheckAccount(const Inputs& inputs, int rank, const std::string& path) {
  const Parts parts = PartsOf(inputs.timeline.accounts[static_cast<size_t>(rank)]);
  Time sum;
  for (int i = 0; i < kPartCount; ++i) {
    const Time part = parts[static_cast<size_t>(i)];
    if (part < Time()) {
      return Error(fmt::format("rank {}: its {} is negative ({} ps); {}", rank, PartName(i),
                               part.ps(), kRunAgain),
                   {path, 0, 0});
    }
    sum += part;
  }
  if (sum == inputs.timeline.iteration) return OkStatus();
  return Error(fmt::format("rank {}: the parts of its account add up to {} ps, but the iteration "
                           "takes {} ps; {}",
                           rank, sum.ps(), inputs.timeline.iteration.ps(), kRunAgain),
               {path, 0, 0});
}

}  // namespace

const Plan* Inputs::plan_of(uint32_t call, int group) const {
  const Workload::Use use{call, static_cast<uint32_t>(group)};
  const auto found = std::lower_bound(workload.uses.begin(), workload.uses.end(), use);
  if (found == workload.uses.end() || *found != use) return nullptr;
  const auto index = static_cast<size_t>(found - workload.uses.begin());
  return &flows.plans[flows.assignments[index].plan];
}

Status CheckTimeline(const Inputs& inputs, const std::string& path) {
  if (inputs.timeline.iteration <= Time()) {
    return Error(fmt::format("the iteration takes no time; {}", kRunAgain), {path, 0, 0});
  }
  for (int rank = 0; rank < inputs.workload.rank_count(); ++rank) {
    RETURN_IF_ERROR(CheckOps(inputs, rank, path));
    RETURN_IF_ERROR(CheckAccount(inputs, rank, path));
  }
  return OkStatus();
}

Result<Inputs> ReadInputs(const std::string& run) {
  ASSIGN_OR_RETURN(WorkloadFile file, ReadWorkload(run, WorkloadParts::kAll));
  Inputs inputs;
  ASSIGN_OR_RETURN(inputs.flows, ReadFlowPlan(run, file));
  ASSIGN_OR_RETURN(inputs.times, ReadKernelTimes(run, file));
  ASSIGN_OR_RETURN(inputs.timeline, ReadTimeline(run, file));
  if (FileExists(run + "/" + kWhatIfName)) {
    ASSIGN_OR_RETURN(inputs.what_if, ReadWhatIf(run, file));
  }
  ASSIGN_OR_RETURN(inputs.memory_curve, ReadMemoryCurve(run, file));
  ASSIGN_OR_RETURN(inputs.link_log, ReadLinkLog(run));
  inputs.workload = std::move(file.workload);
  inputs.maker = std::move(file.maker);
  RETURN_IF_ERROR(CheckTimeline(inputs, run + "/" + kTimelineName));
  return inputs;
}

}  // namespace drydock
