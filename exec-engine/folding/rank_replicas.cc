#include "exec-engine/folding/rank_replicas.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/containers/partition_refinement.h"

namespace drydock {
namespace {

// Returns whether the groups of a role can join replicas.
bool MayJoin(const GroupRole& role) {
  return role.dimension == Dimension::kData || role.dimension == Dimension::kWorld;
}

class CellSearch {
 public:
  explicit CellSearch(const ReplayIndex& index)
      : index_(index),
        workload_(index.workload()),
        parent_(static_cast<size_t>(workload_.rank_count())) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  RankReplicas Find() {
    JoinRanks();
    FindJointGroups();
    out_.representative.resize(parent_.size());
    std::map<int, std::vector<int>> cells;  // by first rank
    for (int rank = 0; rank < workload_.rank_count(); ++rank) cells[CellOf(rank)].push_back(rank);
    std::map<Signature, const std::vector<int>*> first;  // of the cells that are alike
    for (const auto& [none, ranks] : cells) {
      const std::vector<int>& like = *first.try_emplace(SignatureOf(ranks), &ranks).first->second;
      if (&like == &ranks) out_.replayed += static_cast<int>(ranks.size());
      for (size_t i = 0; i < ranks.size(); ++i) {
        out_.representative[static_cast<size_t>(ranks[i])] = like[i];
      }
    }
    return std::move(out_);
  }

 private:
  // The first rank of the cell.
  int CellOf(int rank) {
    int& parent = parent_[static_cast<size_t>(rank)];
    if (parent != rank) parent = CellOf(parent);
    return parent;
  }

  void Join(int a, int b) {
    const int of_a = CellOf(a), of_b = CellOf(b);
    parent_[static_cast<size_t>(std::max(of_a, of_b))] = std::min(of_a, of_b);
  }

  // A number of the rank's tray, and its place on it.
  std::pair<int64_t, int> TrayOf(int rank) const {
    const Placement::Slot& at = index_.placement().of(rank);
    const int gpus = workload_.topology.kind_of_host(at.host).gpus_per_tray();
    return {InOneNumber(at.host, static_cast<uint32_t>(at.gpu / gpus)), at.gpu % gpus};
  }

  void JoinRanks() {
    std::map<int64_t, int> first_on_tray;
    for (int rank = 0; rank < workload_.rank_count(); ++rank) {
      Join(first_on_tray.try_emplace(TrayOf(rank).first, rank).first->second, rank);
    }
    for (size_t role = 0; role < workload_.roles.size(); ++role) {
      if (MayJoin(workload_.roles[role])) continue;
      for (int rank = 0; rank < workload_.rank_count(); ++rank) {
        const int group = index_.group_of(rank, static_cast<uint8_t>(role));
        if (group < 0) continue;
        Join(workload_.groups[static_cast<size_t>(group)].ranks.front(), rank);
      }
    }
  }

  void FindJointGroups() {
    for (const Group& group : workload_.groups) {
      out_.joint.push_back(std::any_of(group.ranks.begin(), group.ranks.end(), [&](int rank) {
        return CellOf(rank) != CellOf(group.ranks.front());
      }));
    }
  }

  // Equal for cells that are alike. Names ranks, trays, hosts and groups in the order in which the
  // cell has them.
  Signature SignatureOf(const std::vector<int>& ranks) {
    Signature out;
    std::map<int64_t, int64_t> hosts, trays;
    std::map<int, int64_t> groups;
    const auto number = [](auto* numbers, auto name) {
      return numbers->try_emplace(name, static_cast<int64_t>(numbers->size())).first->second;
    };
    for (const int rank : ranks) {
      const auto [tray, place] = TrayOf(rank);
      const int host = index_.placement().of(rank).host;
      out.push_back(workload_.class_of_rank[static_cast<size_t>(rank)]);
      out.push_back(workload_.topology.hosts[static_cast<size_t>(host)]);
      out.insert(out.end(), {number(&hosts, int64_t{host}), number(&trays, tray), place});
      for (size_t role = 0; role < workload_.roles.size(); ++role) {
        const int group = index_.group_of(rank, static_cast<uint8_t>(role));
        out.push_back(group < 0 ? -1 : number(&groups, group));
      }
    }
    for (const int rank : ranks) AppendGroups(rank, ranks, &out);
    return out;
  }

  // Appends the members of each group that begins with the rank: of a joint group their number, and
  // which ones are in this cell.
  void AppendGroups(int rank, const std::vector<int>& ranks, Signature* out) const {
    for (size_t role = 0; role < workload_.roles.size(); ++role) {
      const int group = index_.group_of(rank, static_cast<uint8_t>(role));
      if (group < 0) continue;
      const std::vector<int>& members = workload_.groups[static_cast<size_t>(group)].ranks;
      out->push_back(static_cast<int64_t>(members.size()));
      for (const int member : members) {
        const auto at = std::lower_bound(ranks.begin(), ranks.end(), member);
        if (at != ranks.end() && *at == member) out->push_back(at - ranks.begin());
      }
    }
  }

  const ReplayIndex& index_;
  const Workload& workload_;
  std::vector<int> parent_;  // by rank: a rank of its cell that is not greater
  RankReplicas out_;
};

}  // namespace

std::optional<RankReplicas> FindRankReplicas(const ReplayIndex& index, const Variation& variation) {
  const Workload& workload = index.workload();
  const Topology& topology = workload.topology;
  const bool domains = std::all_of(topology.hosts.begin(), topology.hosts.end(), [&](int kind) {
    return topology.host_kinds[static_cast<size_t>(kind)].trays > 1;
  });
  if (!domains || !workload.transfers.empty() || !index.aggregation().empty() ||
      !variation.slow_gpus.empty() || variation.jitter.compute > 0 ||
      variation.jitter.call > Time()) {
    return std::nullopt;
  }
  RankReplicas out = CellSearch(index).Find();
  if (out.replayed == workload.rank_count()) return std::nullopt;
  return out;
}

Workload WithoutReplicas(const Workload& workload, const RankReplicas& replicas) {
  Workload out = workload;
  const auto none = static_cast<int>(out.programs.size());
  Program& empty = out.programs.emplace_back();
  empty.dependency_begin = {0};
  out.class_count = none + 1;
  for (size_t rank = 0; rank < out.class_of_rank.size(); ++rank) {
    if (replicas.representative[rank] != static_cast<int>(rank)) out.class_of_rank[rank] = none;
  }
  return out;
}

}  // namespace drydock
