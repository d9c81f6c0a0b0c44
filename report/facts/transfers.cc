#include "report/facts/transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace drydock {

double TransferRow::bandwidth() const {
  if (median == Time()) return 0;
  return static_cast<double>(transfer.bytes.count()) / median.seconds();
}

std::string TransferRow::Name() const {
  if (transfer.time > Time()) {
    return fmt::format("{} {} for {}", OpKindName(kind), transfer.name, ToString(transfer.time));
  }
  const char* preposition = kind == OpKind::kLoad ? "from" : kind == OpKind::kStore ? "to" : "in";
  return fmt::format("{} {} {} {} {}", OpKindName(kind), transfer.name, ToString(transfer.bytes),
                     preposition, MemoryTierNames()[static_cast<size_t>(transfer.tier)]);
}

std::vector<TransferRow> SummarizeTransfers(const Inputs& inputs) {
  const Workload& w = inputs.workload;
  std::map<std::pair<uint32_t, OpKind>, std::vector<Time>> durations;
  for (int rank = 0; rank < w.rank_count() && !w.transfers.empty(); ++rank) {
    const Program& program = inputs.program_of(rank);
    const RankTimeline& times = inputs.timeline_of(rank);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (!UsesMemory(op.kind)) continue;
      durations[{op.work, op.kind}].push_back(times.end[i] - times.ready[i]);
    }
  }
  std::vector<TransferRow> rows;
  for (auto& [key, all] : durations) {
    std::sort(all.begin(), all.end());
    TransferRow& row = rows.emplace_back();
    row.kind = key.second;
    row.transfer = w.transfers[key.first];
    row.uses = static_cast<int64_t>(all.size());
    row.median = all[(all.size() - 1) / 2];
    row.max = all.back();
    for (const Time time : all) row.total += time;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TransferRow& a, const TransferRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace drydock
