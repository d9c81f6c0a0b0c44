#include "exec-engine/timeline_dump.h"

#include <fmt/format.h>

#include "core/schema/artefacts/artefacts.h"

namespace drydock {
namespace {

// Prints a table of the accounts of all ranks.
void PrintAccounts(const Timeline& timeline) {
  fmt::print("{:>6} {:>12} {:>12} {:>12} {:>12}", "rank", "compute", "host", "straggler", "bubble");
  for (const std::string& name : DimensionNames()) fmt::print(" {:>12}", name);
  fmt::print(" {:>12} {:>12}\n", "memory", "idle");
  for (size_t rank = 0; rank < timeline.accounts.size(); ++rank) {
    const TimeAccount& a = timeline.accounts[rank];
    fmt::print("{:>6} {:>12} {:>12} {:>12} {:>12}", rank, ToString(a.compute), ToString(a.host),
               ToString(a.straggler), ToString(a.bubble));
    for (const Time exposed : a.exposed) fmt::print(" {:>12}", ToString(exposed));
    fmt::print(" {:>12} {:>12}\n", ToString(a.memory), ToString(a.idle));
  }
}

void PrintOps(const Workload& workload, const Timeline& timeline) {
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const RankTimeline& t = timeline.ranks[static_cast<size_t>(rank)];
    const Program& program =
        workload.programs[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])];
    for (size_t i = 0; i < t.start.size(); ++i) {
      const Op& op = program.ops[i];
      const std::string what =
          op.kind == OpKind::kCompute ? workload.blocks[op.work].name
          : UsesMemory(op.kind)       ? OpKindName(op.kind) + " " + workload.transfers[op.work].name
          : op.kind == OpKind::kSend  ? "send"
          : op.kind == OpKind::kRecv
              ? "receive"
              : CollectiveTypeNames()[static_cast<size_t>(workload.calls[op.work].collective)];
      fmt::print("rank {} op {} {} {}: start {} ready {} end {} ps\n", rank, i,
                 workload.streams[op.stream], what, t.start[i].ps(), t.ready[i].ps(),
                 t.end[i].ps());
    }
  }
}

void PrintLength(const Timeline& timeline) {
  if (timeline.stopped > Time()) {
    fmt::print("stopped at {}: {} ops had ended\n", ToString(timeline.stopped), timeline.ops_ended);
  }
  if (timeline.iterations.empty()) return;
  fmt::print("the last of {} iterations:", timeline.iterations.size());
  for (const Time each : timeline.iterations) fmt::print(" {}", ToString(each));
  fmt::print("\n");
}

}  // namespace

Status DumpTimeline(const std::string& run, bool verbose) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run, WorkloadParts::kAll));
  ASSIGN_OR_RETURN(const Timeline timeline, ReadTimeline(run, file));
  fmt::print("network {}, iteration {} ({} ps)\n", timeline.network, ToString(timeline.iteration),
             timeline.iteration.ps());
  PrintLength(timeline);
  for (const auto& [name, value] : timeline.counters) fmt::print("{}: {}\n", name, value);
  PrintAccounts(timeline);
  if (verbose) PrintOps(file.workload, timeline);
  return OkStatus();
}

}  // namespace drydock
