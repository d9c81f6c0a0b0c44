// The process groups of a layout: for each role, the group of each rank. Groups and their members
// have the order of Megatron's RankGenerator: the index of a group walks the axes that the group
// does not span, the index of a member walks the axes that it spans, both fastest axis first.
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
//   cp-heads adjacent ranks of cp that exchange       cp-ring  ranks of cp that hold the same heads
//            heads (context_type a2a+p2p)                      then, and pass keys around a ring
//
// Groups with the same members are one Group (one communicator) under several roles. A group of one
// rank is left out: the rank has group -1 in that role.
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
  kExpertModelRole,  // tp-ep-pp
  kContextHeadsRole,
  kContextRingRole
};
inline constexpr int kRoleCount = 18;

// Which of the two grids of ranks (layout.h).
enum class Grid : uint8_t { kDense, kExpert };

// Returns the members of each group that spans the axes in `axes`, a subset of "t", "c", "d", "p"
// in the dense grid and of "t", "e", "d", "p" in the grid of experts. In the dense grid, "h" and
// "r" are the two levels of "c": ranks that exchange heads, and rings of keys.
std::vector<std::vector<int>> EnumerateGroups(const ParallelLayout& layout, const std::string& axes,
                                              Grid grid = Grid::kDense);

// The groups that some jobs have in addition to those of all jobs.
struct GroupNeeds {
  bool shared_embedding = false;  // embd: first and last stage
  bool mtp = false;               // embd: first stage and the stages of MTP layers
  bool stage = false;             // tp-dp-cp: fp8 amax, router biases
  bool experts = false;
};
GroupNeeds GroupNeedsOf(const TrainingJob& job);
// Returns the pipeline stages that hold the word embedding, ascending; none if only the first does.
std::vector<int> EmbeddingStages(const ParallelLayout& layout, const GroupNeeds& needs);

// Fills roles, groups and group_of_rank. Drops roles without a group at the end of the list. Pairs
// that wrap from the last stage to the first exist only with virtual stages.
void BuildGroups(const ParallelLayout& layout, const GroupNeeds& needs, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_PROCESS_GROUPS_H_
