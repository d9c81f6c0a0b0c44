#include "core/model/calls/rank_classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/containers/partition_refinement.h"
#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

class Refinement {
 public:
  Refinement(const Workload& workload, const std::vector<bool>& positions_matter)
      : w_(workload), positions_matter_(positions_matter), partition_(workload.class_of_rank) {
    for (const Program& program : w_.programs) {
      std::set<int> roles;
      for (const Op& op : program.ops) {
        if (IsCommunication(op.kind)) roles.insert(op.role);
      }
      roles_of_program_.emplace_back(roles.begin(), roles.end());
    }
    used_.assign(w_.groups.size(), false);
    for (int rank = 0; rank < w_.rank_count(); ++rank) {
      for (const int role : Roles(rank)) {
        if (GroupOf(rank, role) >= 0) used_[static_cast<size_t>(GroupOf(rank, role))] = true;
      }
    }
  }

  RankClasses Run() {
    do {
      FindGroupClasses();
    } while (partition_.Split(
        [this](size_t rank, Signature* out) { AppendGroups(static_cast<int>(rank), out); }));
    FindGroupClasses();
    return Result();
  }

 private:
  const std::vector<int>& Roles(int rank) const {
    return roles_of_program_[static_cast<size_t>(w_.class_of_rank[static_cast<size_t>(rank)])];
  }
  int GroupOf(int rank, int role) const {
    return w_.group_of_rank[static_cast<size_t>(role)][static_cast<size_t>(rank)];
  }
  bool PositionsMatter(size_t group) const {
    return w_.groups[group].ranks.size() == 2 || positions_matter_[group];
  }

  MemberClass MemberClassOf(int rank, int group, int position) const {
    MemberClass member;
    member.rank_class = partition_.class_of()[static_cast<size_t>(rank)];
    for (const int role : Roles(rank)) {
      if (GroupOf(rank, role) == group) member.roles.push_back(role);
    }
    if (PositionsMatter(static_cast<size_t>(group))) member.position = position;
    return member;
  }

  void FindGroupClasses() {
    std::map<std::vector<MemberClass>, int> known;
    class_of_group_.assign(w_.groups.size(), -1);
    group_classes_.clear();
    for (size_t g = 0; g < w_.groups.size(); ++g) {
      if (!used_[g]) continue;
      std::vector<MemberClass> members;
      const std::vector<int>& ranks = w_.groups[g].ranks;
      for (size_t m = 0; m < ranks.size(); ++m) {
        members.push_back(MemberClassOf(ranks[m], static_cast<int>(g), static_cast<int>(m)));
      }
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
      const auto [entry, added] = known.emplace(std::move(members), static_cast<int>(known.size()));
      if (added) group_classes_.push_back({entry->first});
      class_of_group_[g] = entry->second;
    }
  }

  // Appends what distinguishes the rank: which of its roles share a group, the classes of the
  // groups, and its positions in them.
  void AppendGroups(int rank, Signature* signature) const {
    std::map<int, int> first_role;  // by group
    for (const int role : Roles(rank)) {
      const int group = GroupOf(rank, role);
      signature->push_back(first_role.emplace(group, role).first->second);
      if (group < 0) continue;
      signature->push_back(class_of_group_[static_cast<size_t>(group)]);
      if (PositionsMatter(static_cast<size_t>(group))) signature->push_back(Position(rank, group));
    }
  }

  int Position(int rank, int group) const {
    const std::vector<int>& ranks = w_.groups[static_cast<size_t>(group)].ranks;
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }

  RankClasses Result() const {
    const auto count = static_cast<size_t>(partition_.count());
    RankClasses out;
    out.class_of_rank = partition_.class_of();
    out.groups = group_classes_;
    out.class_of_group = class_of_group_;
    out.first_rank.assign(count, -1);
    out.member_class_of.assign(count, std::vector<int>(w_.roles.size(), -1));
    for (int rank = 0; rank < w_.rank_count(); ++rank) {
      const auto c = static_cast<size_t>(out.class_of_rank[static_cast<size_t>(rank)]);
      if (out.first_rank[c] >= 0) continue;
      out.first_rank[c] = rank;
      for (const int role : Roles(rank)) {
        const int group = GroupOf(rank, role);
        if (group < 0) continue;
        const MemberClass member = MemberClassOf(rank, group, Position(rank, group));
        const auto& members =
            group_classes_[static_cast<size_t>(class_of_group_[static_cast<size_t>(group)])]
                .members;
        out.member_class_of[c][static_cast<size_t>(role)] = static_cast<int>(
            std::lower_bound(members.begin(), members.end(), member) - members.begin());
      }
    }
    return out;
  }

  const Workload& w_;
  const std::vector<bool>& positions_matter_;
  PartitionRefinement<> partition_;  // of the ranks
  std::vector<std::vector<int>> roles_of_program_;
  std::vector<bool> used_;  // by group
  std::vector<int> class_of_group_;
  std::vector<GroupClass> group_classes_;
};

}  // namespace

std::vector<bool> GroupsWithMessages(const Workload& workload) {
  std::vector<std::set<uint8_t>> roles;  // by program
  for (const Program& program : workload.programs) {
    std::set<uint8_t>& own = roles.emplace_back();
    for (const Op& op : program.ops) {
      if (IsCommunication(op.kind) && InvolvesSubset(workload.calls[op.work])) own.insert(op.role);
    }
  }
  std::vector<bool> with(workload.groups.size(), false);
  for (size_t rank = 0; rank < workload.class_of_rank.size(); ++rank) {
    for (const uint8_t role : roles[static_cast<size_t>(workload.class_of_rank[rank])]) {
      const int group = workload.group_of_rank[role][rank];
      if (group >= 0) with[static_cast<size_t>(group)] = true;
    }
  }
  return with;
}

RankClasses FindRankClasses(const Workload& workload, const std::vector<bool>& positions_matter) {
  return Refinement(workload, positions_matter).Run();
}

}  // namespace drydock
