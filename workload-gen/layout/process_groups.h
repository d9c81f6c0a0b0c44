// The process groups of a layout: for every role, which group each rank belongs to. Enumeration as
// Megatron's RankGenerator: a group's index walks the axes it does not span, a rank's place in it
// the axes it spans, both fastest axis first.
//
//   tp       ranks that split each layer               pp-next  a stage and the one after it
//   dp       ranks that hold the same weights (dp-cp   pp-prev  a stage and the one before it
//            with context parallelism)                 embd     first and last stage
//   pp       the stages of one replica                 world    all ranks
//   tp-pp    one replica of the model
//   cp       ranks that split the same samples         tp-cp    one replica of a stage
//   tp-dp-cp all ranks of a stage
//   ep       ranks that split a layer's experts        edp      ranks that hold the same experts
//   etp      ranks that split each expert              tp-ep    one set of a layer's experts
//   tp-ep-pp one set of all experts
//
// Groups with the same members are one Group (one communicator) under several roles. A group of
// one rank communicates with nobody and is left out: its rank has group -1 in that role.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_PROCESS_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_PROCESS_GROUPS_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

enum Role : uint8_t {
  kTensorRole,
  kDataRole,
  kPipelineRole,
  kModelRole,
  kWorldRole,
  kEmbeddingRole,
  kNextRole,
  kPrevRole,
  kStageRole,  // tp-dp-cp
  kContextRole,
  kTensorContextRole,
  kExpertRole,
  kExpertTensorRole,
  kTensorExpertRole,
  kExpertDataRole,
  kExpertModelRole  // tp-ep-pp
};
inline constexpr int kRoleCount = 16;

// Which way of counting the ranks (layout.h).
enum class Grid : uint8_t { kDense, kExpert };

// Rank lists of the groups that span the axes in `axes`, a subset of "t", "c", "d", "p" in the
// dense grid and of "t", "e", "d", "p" in that of the experts.
std::vector<std::vector<int>> EnumerateGroups(const ParallelLayout& layout, const std::string& axes,
                                              Grid grid = Grid::kDense);

// The groups that a job makes beyond those every job has.
struct GroupNeeds {
  bool shared_embedding = false;  // embd: first and last stage
  bool further_tokens = false;  // embd: first stage and those of layers which predict further ones
  bool stage = false;           // tp-dp-cp: fp8 amax, router biases
  bool experts = false;
};
GroupNeeds GroupNeedsOf(const TrainingJob& job);
// Pipeline stages, ascending, that hold the word embedding; none if the first alone does.
std::vector<int> EmbeddingStages(const ParallelLayout& layout, const GroupNeeds& needs);

// Fills roles, groups and group_of_rank; roles without a group behind the last one with one are
// left out. The pairs that wrap from the last stage to the first exist only with virtual stages.
void BuildGroups(const ParallelLayout& layout, const GroupNeeds& needs, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_PROCESS_GROUPS_H_
