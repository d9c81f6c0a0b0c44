#include "report/facts/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

// The key of a row: role; the call, its type, count and group size; the plan.
using Key = std::tuple<uint8_t, std::string, DataType, int64_t, int, std::vector<WorkKind>>;

// Durations by row, filled rank by rank.
class Collector {
 public:
  explicit Collector(const Inputs& inputs) : inputs_(inputs) {}

  void AddRank(int rank) {
    // Within a rank, role and call determine the row.
    row_of_.assign(inputs_.workload.roles.size() * inputs_.workload.calls.size(), -1);
    const Program& program = inputs_.program_of(rank);
    const RankTimeline& times = inputs_.timeline_of(rank);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.kind != OpKind::kCollective && op.kind != OpKind::kRecv) continue;
      durations_[RowOf(rank, op)].push_back(times.end[i] - times.ready[i]);
    }
  }

  std::vector<CollectiveRow> TakeRows() {
    for (size_t i = 0; i < rows_.size(); ++i) Finish(&durations_[i], &rows_[i]);
    return std::move(rows_);
  }

 private:
  size_t RowOf(int rank, const Op& op) {
    int& cached = row_of_[op.role * inputs_.workload.calls.size() + op.work];
    if (cached >= 0) return static_cast<size_t>(cached);
    const Plan* plan = inputs_.plan_of(op.work, inputs_.group_of(rank, op));
    const auto [found, added] = index_.try_emplace(KeyOf(op, *plan), rows_.size());
    if (added) AddRow(op, *plan);
    cached = static_cast<int>(found->second);
    return found->second;
  }

  // Pairs of ranks that differ only in their NICs and directions share a row.
  Key KeyOf(const Op& op, const Plan& plan) const {
    const CommCall& call = inputs_.workload.calls[op.work];
    return {op.role,         KindText(call) + BuffersText(call),
            call.type,       call.count,
            call.group_size, WorkKindsOf(plan)};
  }

  void AddRow(const Op& op, const Plan& plan) {
    CollectiveRow& row = rows_.emplace_back();
    row.role = inputs_.workload.roles[op.role].name;
    row.call = inputs_.workload.calls[op.work];
    row.works = WorkKindsOf(plan);
    durations_.emplace_back();
  }

  static void Finish(std::vector<Time>* durations, CollectiveRow* row) {
    const bool message = row->call.collective == CollectiveType::kSendRecv;
    const auto count = static_cast<int64_t>(durations->size());
    row->uses = message ? count : count / std::max(1, ParticipantsOf(row->call));
    const auto middle = durations->begin() + (count - 1) / 2;
    std::nth_element(durations->begin(), middle, durations->end());
    row->median = *middle;
    row->max = *std::max_element(middle, durations->end());
    for (const Time duration : *durations) row->total += duration;
  }

  const Inputs& inputs_;
  std::map<Key, size_t> index_;
  std::vector<int> row_of_;
  std::vector<CollectiveRow> rows_;
  std::vector<std::vector<Time>> durations_;
};

}  // namespace

double BusFactor(CollectiveType collective, int group_size) {
  const double n = group_size;
  switch (collective) {
    case CollectiveType::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveType::kAllGather:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kAllToAll:
    case CollectiveType::kAllToAllV:
    case CollectiveType::kGather:
    case CollectiveType::kScatter:
      return (n - 1) / n;
    case CollectiveType::kBroadcast:
    case CollectiveType::kReduce:
    case CollectiveType::kSendRecv:
      return 1;
    case CollectiveType::kGrouped:
      break;  // see the overload below
  }
  CHECK(false);
}

double BusFactor(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) {
    return BusFactor(call.collective, call.group_size);
  }
  double bytes = 0;
  for (const CommCall& part : call.parts) {
    bytes += static_cast<double>(part.bytes().count()) * BusFactor(part);
  }
  return bytes / static_cast<double>(call.bytes().count());
}

double CollectiveRow::algorithm_bandwidth() const {
  if (median == Time()) return 0;
  return static_cast<double>(call.bytes().count()) * 1e12 / static_cast<double>(median.ps());
}

double CollectiveRow::bus_bandwidth() const { return algorithm_bandwidth() * BusFactor(call); }

std::string CollectiveRow::Name() const {
  std::string name = fmt::format("{} {}", role, KindText(call));
  if (call.collective != CollectiveType::kGrouped) name += fmt::format(" {}", ToString(call.type));
  name.append(" ").append(ToString(call.bytes()));
  if (call.collective != CollectiveType::kSendRecv) {
    name += fmt::format(" over {}", call.group_size);
  }
  return name + BuffersText(call);
}

std::string CollectiveRow::PlanName() const { return ToString(works); }

std::vector<CollectiveRow> SummarizeCollectives(const Inputs& inputs) {
  Collector collector(inputs);
  for (int rank = 0; rank < inputs.workload.rank_count(); ++rank) collector.AddRank(rank);
  std::vector<CollectiveRow> rows = collector.TakeRows();
  // Rows are in the order of their first use, which the stable sort keeps for equal totals.
  std::stable_sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.total > b.total;
  });
  return rows;
}

}  // namespace drydock
