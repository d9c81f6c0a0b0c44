// For tests: the calls and submodules of a workload's programs.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_PROGRAM_COUNTS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_PROGRAM_COUNTS_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/graph/text/workload_text.h"

namespace drydock {

// Returns "ep all-to-all 8192 x bf16 = 16.38 KB over 4" for each communication of a layer and phase
// of micro-batch 0 in a class's program, in order.
inline std::vector<std::string> CallsOfLayer(const Workload& w, int class_index, int layer,
                                             Phase phase) {
  std::vector<std::string> lines;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (!IsCommunication(op.kind) || op.layer != layer || op.phase != phase) continue;
    if (op.microbatch != 0) continue;
    lines.push_back(w.roles[op.role].name + " " + CallText(w.calls[op.work]));
  }
  return lines;
}

// Returns the names of the submodules that run in a layer and phase of micro-batch 0, in order.
inline std::vector<std::string> SubmodulesOfLayer(const Workload& w, int class_index, int layer,
                                                  Phase phase) {
  std::vector<std::string> names;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (op.kind != OpKind::kCompute || op.layer != layer || op.phase != phase) continue;
    if (op.microbatch != 0) continue;
    for (const uint32_t s : w.blocks[op.work].submodules) names.push_back(w.submodules[s].name);
  }
  return names;
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_PROGRAM_COUNTS_H_
