// Reads a file that states how Transformer Engine overlaps each GEMM with its communication. The
// argument --tp-comm-overlap-cfg of Megatron-LM, ub_tp_comm_overlap_cfg of NeMo and overlap.from
// name such a file.
//
//   proj_fprop: {method: pipeline, num_sm: 24, num_splits: 4, set_sm_margin: 1}
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_

#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// Returns the keys of the section `overlap` that the file gives: how the reduce-scatters of proj
// and fc2 are split. Other settings go to `notes`; with `strict` they are errors. A method that is
// not generated for a GEMM is always an error.
Result<YamlNode> OverlapFromConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes);

// The same for a map inside a recipe. Names that begin with '_' are of classes; a null leaves a
// GEMM as it is.
Result<YamlNode> OverlapFromMap(const YamlNode& map, bool strict, ImportNotes* notes);

// Replaces overlap.from by the keys that the file gives (ExpandFrom in tree/job_tree.h).
Status ExpandOverlapFrom(bool strict, YamlNode* root, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_
