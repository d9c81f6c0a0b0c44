#include "workload-gen/process_groups.h"

#include <algorithm>
#include <map>

namespace drydock {
namespace {

struct Axis {
  int size = 1;
  int stride = 1;
};

// The axes of `names` ('t', 'd', 'p'), or those missing from it, fastest first.
std::vector<Axis> Axes(const Layout& layout, const std::string& names, bool spanned) {
  const bool data_first = layout.order == RankOrder::kTensorContextExpertDataPipeline;
  const std::string order = data_first ? "tdp" : "tpd";
  std::vector<Axis> axes;
  int stride = 1;
  for (const char axis : order) {
    const int size = axis == 't' ? layout.tensor : axis == 'd' ? layout.data : layout.pipeline;
    if ((names.find(axis) != std::string::npos) == spanned) axes.push_back({size, stride});
    stride *= size;
  }
  return axes;
}

// Rank offsets in the order of counting through the axes, fastest first.
std::vector<int> Offsets(const std::vector<Axis>& axes) {
  std::vector<int> offsets = {0};
  for (const Axis& axis : axes) {
    const size_t inner = offsets.size();
    for (int i = 1; i < axis.size; ++i) {
      for (size_t j = 0; j < inner; ++j) offsets.push_back(offsets[j] + i * axis.stride);
    }
  }
  return offsets;
}

class GroupTable {
 public:
  explicit GroupTable(Workload* workload) : workload_(workload) {}

  // `role` of every member of `ranks` is this group.
  void Assign(Role role, std::vector<int> ranks) {
    if (ranks.size() < 2) return;
    const int group = Intern(ranks);
    for (const int rank : ranks) Set(role, rank, group);
  }

  // The pair of neighbouring stages, seen from both.
  void AssignPair(int from, int to) {
    const int group = Intern({std::min(from, to), std::max(from, to)});
    Set(kNextRole, from, group);
    Set(kPrevRole, to, group);
  }

 private:
  int Intern(const std::vector<int>& ranks) {
    const auto [place, added] = known_.emplace(ranks, static_cast<int>(workload_->groups.size()));
    if (added) workload_->groups.push_back({ranks});
    return place->second;
  }
  void Set(Role role, int rank, int group) {
    workload_->group_of_rank[role][static_cast<size_t>(rank)] = group;
  }

  Workload* workload_;
  std::map<std::vector<int>, int> known_;
};

void AssignStagePairs(const Layout& layout, bool tied_embedding, GroupTable* table) {
  for (const std::vector<int>& stages : EnumerateGroups(layout, "p")) {
    const size_t count = stages.size();
    if (count < 2) continue;
    if (tied_embedding) table->Assign(kEmbeddingRole, {stages.front(), stages.back()});
    for (size_t i = 0; i + 1 < count; ++i) table->AssignPair(stages[i], stages[i + 1]);
    if (layout.chunks > 1) table->AssignPair(stages.back(), stages.front());
  }
}

}  // namespace

std::vector<std::vector<int>> EnumerateGroups(const Layout& layout, const std::string& axes) {
  const std::vector<int> members = Offsets(Axes(layout, axes, /*spanned=*/true));
  std::vector<std::vector<int>> groups;
  for (const int first : Offsets(Axes(layout, axes, /*spanned=*/false))) {
    groups.emplace_back();
    for (const int offset : members) groups.back().push_back(first + offset);
  }
  return groups;
}

void BuildGroups(const Layout& layout, bool tied_embedding, Workload* workload) {
  workload->roles = {{"tp", Dimension::kTensor},        {"dp", Dimension::kData},
                     {"pp", Dimension::kPipeline},      {"tp-pp", Dimension::kWorld},
                     {"world", Dimension::kWorld},      {"embd", Dimension::kPipeline},
                     {"pp-next", Dimension::kPipeline}, {"pp-prev", Dimension::kPipeline}};
  workload->groups.clear();
  workload->group_of_rank.assign(kRoleCount,
                                 std::vector<int>(static_cast<size_t>(layout.world()), -1));
  GroupTable table(workload);
  const std::pair<Role, const char*> spans[] = {{kTensorRole, "t"},
                                                {kDataRole, "d"},
                                                {kPipelineRole, "p"},
                                                {kModelRole, "tp"},
                                                {kWorldRole, "tdp"}};
  for (const auto& [role, axes] : spans) {
    for (std::vector<int>& ranks : EnumerateGroups(layout, axes)) table.Assign(role, ranks);
  }
  AssignStagePairs(layout, tied_embedding, &table);
}

}  // namespace drydock
