// How Transformer Engine overlaps each product with its communication: the file that Megatron's
// --tp-comm-overlap-cfg and NeMo's ub_tp_comm_overlap_cfg name, here `from` of the section
// `overlap`.
//
//   proj_fprop: {method: pipeline, num_sm: 24, num_splits: 4, set_sm_margin: 1}
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_

#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// The section `overlap` that the file means: how sums leave proj and fc2. What it says beyond that
// is noted, with `strict` an error; a method that Transformer Engine does not have there is one.
Result<YamlNode> OverlapFromConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes);

// Replaces `from` of the section `overlap` by what the file says, whose path is relative to the
// file that names it. Other keys of the section count more.
Status ExpandOverlapFrom(bool strict, YamlNode* root, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_OVERLAP_CONFIG_H_
