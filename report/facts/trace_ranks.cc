#include "report/facts/trace_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace drydock {
namespace {

std::vector<int> FirstTensorGroup(const Workload& workload) {
  for (size_t role = 0; role < workload.roles.size(); ++role) {
    if (workload.roles[role].dimension != Dimension::kTensor) continue;
    for (const int group : workload.group_of_rank[role]) {
      if (group >= 0) return workload.groups[static_cast<size_t>(group)].ranks;
    }
  }
  return {};
}

}  // namespace

Result<TraceRanks> ParseTraceRanks(const std::string& text) {
  if (text == "all") return TraceRanks{TraceRanks::kAll};
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1) {
    return Error(fmt::format(
        "--trace-ranks: '{}' is neither a number of ranks, at least 1, nor 'all'", text));
  }
  return TraceRanks{count};
}

std::vector<int> ClassRepresentatives(const Workload& workload) {
  std::vector<int> lowest(static_cast<size_t>(workload.class_count), -1);
  for (int rank = workload.rank_count() - 1; rank >= 0; --rank) {
    lowest[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])] = rank;
  }
  std::erase(lowest, -1);
  return lowest;
}

std::vector<int> ChooseRanks(const Workload& workload, TraceRanks choice) {
  std::vector<int> chosen;
  std::vector<bool> taken(static_cast<size_t>(workload.rank_count()), false);
  const auto take = [&](int rank) {
    if (choice.count > 0 && static_cast<int>(chosen.size()) == choice.count) return;
    if (taken[static_cast<size_t>(rank)]) return;
    taken[static_cast<size_t>(rank)] = true;
    chosen.push_back(rank);
  };
  for (const int rank : ClassRepresentatives(workload)) take(rank);
  for (const int rank : FirstTensorGroup(workload)) take(rank);
  if (choice.count != TraceRanks::kRepresentatives) {
    for (int rank = 0; rank < workload.rank_count(); ++rank) take(rank);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace drydock
