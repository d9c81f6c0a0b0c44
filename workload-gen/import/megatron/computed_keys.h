// The keys of model.yaml that do not follow from a single argument of Megatron-LM: a function per
// subject computes them. The table of keys (workload-gen/job/key.h) has the other arguments, whose
// values are in the reader's tree already.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_COMPUTED_KEYS_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_COMPUTED_KEYS_H_

#include "workload-gen/import/megatron/megatron_reader.h"
#include "workload-gen/import/shell/launch_script.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

void ComputeModel(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes);
void ComputeExperts(MegatronReader* reader);
void ComputePattern(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes);
// The argument that gives the pattern of a hybrid model; "" if there is none.
const char* HybridArgument(const MegatronReader& reader);
void ComputeTraining(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes);
void ComputeParallel(MegatronReader* reader, ImportNotes* notes);
// A configuration of overlaps that does not exist on this machine is an error with `strict`.
void ComputeOverlap(bool strict, MegatronReader* reader, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_COMPUTED_KEYS_H_
