#include "workload-gen/layout/process_groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace drydock {
namespace {

struct Axis {
  int size = 1;
  int stride = 1;
};

int SizeOf(const ParallelLayout& layout, Grid grid, char axis) {
  const bool dense = grid == Grid::kDense;
  switch (axis) {
    case 't':
      return dense ? layout.tensor : layout.expert_tensor;
    case 'h':
      return layout.context_heads;
    case 'r':
      return layout.context_ring();
    case 'e':
      return layout.expert;
    case 'd':
      return dense ? layout.data : layout.expert_data();
    default:
      return layout.pipeline;
  }
}

bool IsSpanned(const std::string& names, char axis) {
  if ((axis == 'h' || axis == 'r') && names.find('c') != std::string::npos) return true;
  return names.find(axis) != std::string::npos;
}

// Returns the axes in `names` (if `spanned`) or the other axes, fastest first.
std::vector<Axis> Axes(const ParallelLayout& layout, Grid grid, const std::string& names,
                       bool spanned) {
  const bool data_first = layout.order == RankOrder::kTensorContextExpertDataPipeline;
  const std::string order =
      std::string(grid == Grid::kDense ? "thr" : "te") + (data_first ? "dp" : "pd");
  std::vector<Axis> axes;
  int stride = 1;
  for (const char axis : order) {
    const int size = SizeOf(layout, grid, axis);
    if (IsSpanned(names, axis) == spanned) axes.push_back({size, stride});
    stride *= size;
  }
  return axes;
}

// Returns the rank offsets of all points of the axes, fastest axis first.
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

  // Makes a group of `ranks` and gives it to each of them in `role`.
  void Assign(Role role, std::vector<int> ranks) {
    if (ranks.size() < 2) return;
    const int group = Intern(ranks);
    for (const int rank : ranks) Set(role, rank, group);
  }

  // Makes a group of two adjacent stages: the next one of `from`, the previous one of `to`.
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

void AssignStagePairs(const ParallelLayout& layout, const GroupNeeds& needs, GroupTable* table) {
  const std::vector<int> holders = EmbeddingStages(layout, needs);
  for (const std::vector<int>& stages : EnumerateGroups(layout, "p")) {
    const size_t count = stages.size();
    if (count < 2) continue;
    std::vector<int> embedding;
    for (const int stage : holders) embedding.push_back(stages[static_cast<size_t>(stage)]);
    if (!embedding.empty()) table->Assign(kEmbeddingRole, std::move(embedding));
    for (size_t i = 0; i + 1 < count; ++i) table->AssignPair(stages[i], stages[i + 1]);
    if (layout.chunks > 1) table->AssignPair(stages.back(), stages.front());
  }
}

// The axes that the groups of a role span. AssignStagePairs makes pairs of stages and embd.
struct Span {
  Role role;
  Grid grid;
  const char* axes;
};

std::vector<Span> SpansOf(const ParallelLayout& layout, const GroupNeeds& needs) {
  std::vector<Span> spans;
  spans.reserve(kRoleCount);
  for (const Span& span : {Span{kTensorRole, Grid::kDense, "t"},
                           {kDataRole, Grid::kDense, "cd"},
                           {kPipelineRole, Grid::kDense, "p"},
                           {kModelRole, Grid::kDense, "tp"},
                           {kWorldRole, Grid::kDense, "tcdp"}}) {
    spans.push_back(span);
  }
  if (needs.stage) spans.push_back({kStageRole, Grid::kDense, "tcd"});
  if (layout.context > 1) spans.push_back({kContextRole, Grid::kDense, "c"});
  if (layout.context_heads > 1) {
    spans.push_back({kContextHeadsRole, Grid::kDense, "h"});
    spans.push_back({kContextRingRole, Grid::kDense, "r"});
  }
  if (!needs.experts) return spans;
  for (const Span& span : {Span{kTensorContextRole, Grid::kDense, "tc"},
                           {kExpertRole, Grid::kExpert, "e"},
                           {kExpertTensorRole, Grid::kExpert, "t"},
                           {kTensorExpertRole, Grid::kExpert, "te"},
                           {kExpertDataRole, Grid::kExpert, "d"},
                           {kExpertModelRole, Grid::kExpert, "tep"}}) {
    spans.push_back(span);
  }
  return spans;
}

std::vector<GroupRole> RolesOf(const ParallelLayout& layout) {
  using D = Dimension;
  return {{"tp", D::kTensor},        {layout.context > 1 ? "dp-cp" : "dp", D::kData},
          {"pp", D::kPipeline},      {"tp-pp", D::kWorld},
          {"world", D::kWorld},      {"embd", D::kPipeline},
          {"pp-next", D::kPipeline}, {"pp-prev", D::kPipeline},
          {"tp-dp-cp", D::kWorld},   {"cp", D::kContext},
          {"tp-cp", D::kWorld},      {"ep", D::kExpert},
          {"etp", D::kTensor},       {"tp-ep", D::kExpert},
          {"edp", D::kData},         {"tp-ep-pp", D::kWorld},
          {"cp-heads", D::kContext}, {"cp-ring", D::kContext}};
}

// All jobs have the first eight roles.
void DropUnusedRoles(Workload* workload) {
  const auto unused = [](const std::vector<int>& groups) {
    return std::all_of(groups.begin(), groups.end(), [](int group) { return group < 0; });
  };
  while (workload->roles.size() > kPrevRole + 1 && unused(workload->group_of_rank.back())) {
    workload->roles.pop_back();
    workload->group_of_rank.pop_back();
  }
}

}  // namespace

std::vector<std::vector<int>> EnumerateGroups(const ParallelLayout& layout, const std::string& axes,
                                              Grid grid) {
  const std::vector<int> members = Offsets(Axes(layout, grid, axes, /*spanned=*/true));
  std::vector<std::vector<int>> groups;
  for (const int first : Offsets(Axes(layout, grid, axes, /*spanned=*/false))) {
    groups.emplace_back();
    for (const int offset : members) groups.back().push_back(first + offset);
  }
  return groups;
}

GroupNeeds GroupNeedsOf(const TrainingJob& job) {
  const ExpertShape& moe = job.model.moe;
  return {.shared_embedding = job.model.embedding.tied,
          .mtp = job.model.mtp_layers > 0,
          .stage = (job.training.precision.delayed_scaling() &&
                    !job.training.precision.tp_only_amax_red) ||
                   moe.router_bias,
          .experts = moe.experts > 0};
}

// get_embedding_ranks of Megatron's training.py.
std::vector<int> EmbeddingStages(const ParallelLayout& layout, const GroupNeeds& needs) {
  std::set<int> stages = {0};
  for (int stage = 0; needs.mtp && stage < layout.pipeline; ++stage) {
    if (layout.HasMtpLayers(stage, layout.chunks - 1)) stages.insert(stage);
  }
  if (needs.shared_embedding) stages.insert(layout.pipeline - 1);
  return stages.size() > 1 ? std::vector<int>(stages.begin(), stages.end()) : std::vector<int>();
}

void BuildGroups(const ParallelLayout& layout, const GroupNeeds& needs, Workload* workload) {
  workload->roles = RolesOf(layout);
  workload->groups.clear();
  workload->group_of_rank.assign(kRoleCount,
                                 std::vector<int>(static_cast<size_t>(layout.world()), -1));
  GroupTable table(workload);
  for (const auto& [role, grid, axes] : SpansOf(layout, needs)) {
    for (std::vector<int>& ranks : EnumerateGroups(layout, axes, grid)) table.Assign(role, ranks);
  }
  AssignStagePairs(layout, needs, &table);
  DropUnusedRoles(workload);
}

}  // namespace drydock
