// Moves the tensors of modules to the host and back (training.offload_modules;
// fine_grained_activation_offload.py of Megatron-Core). A module of a layer is a group. Behind its
// forward, the group's tensors leave on a stream of their own, and compute goes on. Backward waits
// before a module for its group; behind a module, the copy back of the last group that is still
// away begins: of this pass, or of the next pass to run backward.
//
// Of each kind of group, the last one of a pass stays, if this pass is the next to run backward, or
// the first of the iteration.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_MODULE_OFFLOAD_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_MODULE_OFFLOAD_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "workload-gen/job/memory_rules.h"
#include "workload-gen/program/writer_context.h"
#include "workload-gen/work/offloaded_tensors.h"

namespace drydock {

class ModuleOffload {
 public:
  using Pass = std::pair<int, int>;  // micro-batch and chunk

  // `backwards`: in the order of the schedule. REQUIRES: the job has offload_modules.
  ModuleOffload(const WriterContext& context, std::vector<Pass> backwards);

  // Each takes the place and the phase from the builder. Forward, behind the module; calls of a
  // pass that backward repeats do nothing.
  void Leave(OffloadModule module);
  // Backward, before and behind the module.
  void Await(OffloadModule module);
  void Behind(OffloadModule module);

 private:
  using OpId = ProgramBuilder::OpId;

  struct Group {
    OffloadModule module;
    int layer;
    OffloadedTensors tensors;
    OpId stored = ProgramBuilder::kNothing, loaded = ProgramBuilder::kNothing;
  };
  // The groups of a pass: how many ran forward, which are away, which are on their way back.
  struct PassGroups {
    int forward = 0;
    std::vector<Group> away, arriving;
  };
  // By module: the last layer of a chunk that has it, or -1.
  struct ChunkGroups {
    int count = 0;
    std::array<int, kOffloadModuleCount> last;
  };

  ChunkGroups GroupsOf(int chunk) const;
  bool Runs(OffloadModule module) const;
  bool HasModule(const Pass& pass, OffloadModule module) const;
  // The next pass to run backward that has the module, or any.
  std::optional<Pass> Next(std::optional<OffloadModule> module) const;
  bool Stays(const Pass& pass, OffloadModule module) const;
  OpId Move(OpKind kind, const Group& group, OpId after);
  // A group that is away: its index in PassGroups::away.
  void Load(const Pass& pass, size_t index);
  Pass pass() const;

  const WriterContext& c_;
  std::vector<Pass> backwards_;
  size_t begun_ = 0;  // of backwards_
  std::vector<ChunkGroups> chunks_;
  std::map<Pass, PassGroups> passes_;
};

// The same calls of a writer, whose context may have none.
inline void Leave(ModuleOffload* offload, OffloadModule module) {
  if (offload != nullptr) offload->Leave(module);
}
inline void Await(ModuleOffload* offload, OffloadModule module) {
  if (offload != nullptr) offload->Await(module);
}
inline void Behind(ModuleOffload* offload, OffloadModule module) {
  if (offload != nullptr) offload->Behind(module);
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_MODULE_OFFLOAD_H_
