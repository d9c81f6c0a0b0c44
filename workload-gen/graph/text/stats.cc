#include "workload-gen/graph/text/stats.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace drydock {
namespace {

// Returns the number of ranks that run each program.
std::vector<int64_t> RanksOfClasses(const Workload& w) {
  std::vector<int64_t> ranks(w.programs.size(), 0);
  for (const int c : w.class_of_rank) ++ranks[static_cast<size_t>(c)];
  return ranks;
}

class Counter {
 public:
  explicit Counter(const Workload& workload) : w_(workload), ranks_(RanksOfClasses(workload)) {}

  WorkloadStats Count() {
    for (size_t c = 0; c < w_.programs.size(); ++c) CountOps(c);
    CountCalls();
    for (auto& [key, entry] : compute_) stats_.compute.push_back(entry);
    for (auto& [key, entry] : transfers_) stats_.transfers.push_back(entry);
    for (size_t i = 0; i < std::size(phases_); ++i) {
      if (occurs_[i]) stats_.phases.push_back(phases_[i]);
    }
    return std::move(stats_);
  }

 private:
  void CountOps(size_t c) {
    const auto ranks = ranks_[c];
    for (const Op& op : w_.programs[c].ops) {
      WorkloadStats::Phased& phase = phases_[static_cast<size_t>(op.phase)];
      phase.phase = op.phase;
      occurs_[static_cast<size_t>(op.phase)] = true;
      stats_.ops += ranks;
      int64_t* const counts[kOpKindCount] = {&phase.compute,   &phase.collectives, &phase.sends,
                                             &phase.receives,  &phase.loads,       &phase.stores,
                                             &phase.host_works};
      *counts[static_cast<size_t>(op.kind)] += ranks;
      if (op.kind == OpKind::kCompute) CountBlock(w_.blocks[op.work], ranks);
      if (UsesMemory(op.kind)) CountTransfer(op, ranks);
    }
  }

  void CountTransfer(const Op& op, int64_t ranks) {
    const MemoryTransfer& transfer = w_.transfers[op.work];
    WorkloadStats::Transfers& entry = transfers_[{transfer.name, op.kind}];
    entry.name = transfer.name;
    entry.tier = transfer.tier;
    entry.kind = op.kind;
    entry.times += ranks;
    entry.bytes += static_cast<double>(transfer.bytes.count()) * static_cast<double>(ranks);
  }

  void CountBlock(const ComputeBlock& block, int64_t ranks) {
    for (const uint32_t index : block.submodules) {
      const Submodule& s = w_.submodules[index];
      WorkloadStats::Compute& entry = compute_[{s.work.index(), s.pass}];
      entry.kind = s.work.index();
      entry.pass = s.pass;
      entry.times += ranks;
      entry.flops += s.flops * static_cast<double>(ranks);
      entry.bytes += static_cast<double>(s.bytes.count()) * static_cast<double>(ranks);
      stats_.flops += s.flops * static_cast<double>(ranks);
    }
  }

  // Each member of a group counts its share of a call, so that the sum over the members is one
  // call. Messages are counted at the sender.
  void CountCalls() {
    // By class: the number of times that its program makes a call in a role.
    std::vector<std::map<std::pair<uint8_t, uint32_t>, int64_t>> made(w_.programs.size());
    for (size_t c = 0; c < w_.programs.size(); ++c) {
      for (const Op& op : w_.programs[c].ops) {
        if (op.kind == OpKind::kCollective || op.kind == OpKind::kSend) {
          ++made[c][{op.role, op.work}];
        }
      }
    }
    struct Sum {
      double calls = 0, bytes = 0;
      int64_t least = INT64_MAX, most = 0;
      std::set<int> groups;
    };
    std::map<std::pair<uint8_t, CollectiveType>, Sum> sums;
    for (int rank = 0; rank < w_.rank_count(); ++rank) {
      const auto at = static_cast<size_t>(rank);
      for (const auto& [key, times] : made[static_cast<size_t>(w_.class_of_rank[at])]) {
        const CommCall& call = w_.calls[key.second];
        Sum& sum = sums[{key.first, call.collective}];
        const int64_t makers = call.collective == CollectiveType::kSendRecv ? 1 : call.group_size;
        sum.calls += static_cast<double>(times) / static_cast<double>(makers);
        sum.bytes += static_cast<double>(call.bytes().count()) * static_cast<double>(times) /
                     static_cast<double>(makers);
        sum.least = std::min<int64_t>(sum.least, call.group_size);
        sum.most = std::max<int64_t>(sum.most, call.group_size);
        sum.groups.insert(w_.group_of_rank[key.first][at]);
      }
    }
    for (const auto& [key, sum] : sums) {
      stats_.communication.push_back({w_.roles[key.first].name, key.second,
                                      static_cast<int64_t>(sum.calls + 0.5), sum.bytes, sum.least,
                                      sum.most, static_cast<int64_t>(sum.groups.size())});
    }
  }

  const Workload& w_;
  const std::vector<int64_t> ranks_;
  std::map<std::pair<size_t, Pass>, WorkloadStats::Compute> compute_;
  std::map<std::pair<std::string, OpKind>, WorkloadStats::Transfers> transfers_;
  WorkloadStats::Phased phases_[static_cast<size_t>(Phase::kOther) + 1];
  bool occurs_[static_cast<size_t>(Phase::kOther) + 1] = {};
  WorkloadStats stats_;
};

}  // namespace

WorkloadStats StatsOf(const Workload& workload) { return Counter(workload).Count(); }

}  // namespace drydock
