// A Workload as readable text: totals, groups, tables, programs. One line per item, in stable
// order.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_

#include <string>

#include "core/model/workload.h"

namespace drydock {

// Returns totals, roles with their groups, submodules, blocks and calls.
std::string TablesText(const Workload& workload);
// Returns one line per op: number, stream, phase, micro-batch, layer, work, dependencies.
std::string ProgramText(const Workload& workload, int class_index);

std::string CallText(const CommCall& call);
// Returns "load zero.parameters 1 GB from host".
std::string TransferText(const MemoryTransfer& transfer, OpKind kind);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_
