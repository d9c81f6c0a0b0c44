// A Workload as text for people: totals, groups, tables, programs. One line an item; stable.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_

#include <string>

#include "core/model/workload.h"

namespace drydock {

// Totals, roles with their groups, submodules, blocks, calls.
std::string TablesText(const Workload& workload);
// One line an op: number, stream, phase, place, what, dependencies.
std::string ProgramText(const Workload& workload, int class_index);

std::string CallText(const CommCall& call);
// "load zero.parameters 1 GB from host".
std::string TransferText(const MemoryTransfer& transfer, OpKind kind);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_WORKLOAD_TEXT_H_
