// The process groups of a layout: for every role, which group each rank belongs to. Enumeration as
// Megatron's RankGenerator: a group's index walks the axes it does not span, a rank's place in it
// the axes it spans, both fastest axis first.
//
//   tp       ranks that split each layer               pp-next  a stage and the one after it
//   dp       ranks that hold the same weights          pp-prev  a stage and the one before it
//   pp       the stages of one replica                 embd     first and last stage
//   tp-pp    one replica of the model                  world    all ranks
//
// Groups with the same members are one Group (one communicator) under several roles. A group of
// one rank communicates with nobody and is left out: its rank has group -1 in that role.
#ifndef DRYDOCK_WORKLOAD_GEN_PROCESS_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_PROCESS_GROUPS_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/layout.h"

namespace drydock {

enum Role : uint8_t {
  kTensorRole,
  kDataRole,
  kPipelineRole,
  kModelRole,
  kWorldRole,
  kEmbeddingRole,
  kNextRole,
  kPrevRole
};
inline constexpr int kRoleCount = 8;

// Rank lists of the groups that span the axes in `axes`, a subset of "t", "d", "p".
std::vector<std::vector<int>> EnumerateGroups(const Layout& layout, const std::string& axes);

// Fills roles, groups and group_of_rank. The pairs that wrap from the last stage to the first exist
// only with virtual stages; embd only with a tied embedding.
void BuildGroups(const Layout& layout, bool tied_embedding, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROCESS_GROUPS_H_
