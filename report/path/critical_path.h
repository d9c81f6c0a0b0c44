// The critical path of the whole cluster: the chain of ops, across ranks and without a gap, that
// ends when the iteration ends. The iteration can only become shorter if a step of the path does.
//
// CriticalPath follows it backwards from its end (docs/explanation/accounting.md). From an op it
// goes to the op's cause on the same rank (core/model/op_causes.h). From a communication op it
// first goes to the member that starts last, of the members whose data the op needs.
#ifndef DRYDOCK_REPORT_PATH_CRITICAL_PATH_H_
#define DRYDOCK_REPORT_PATH_CRITICAL_PATH_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

enum class PathKind : uint8_t {
  kCompute,
  kHost,      // the op, or its kernels, wait for a launch; or host work
  kTransfer,  // data of a communication op moves
  kMemory,    // a load or a store
};

// A part of the path on one rank.
struct PathStep {
  Time begin, end;
  PathKind kind = PathKind::kCompute;
  int rank = 0;
  uint32_t op = 0;   // of the rank's program
  int held_by = -1;  // of a transfer: the last rank to start; if it is not `rank`, the path
                     // continues there
};

// Returns the steps in the order of time. Each step begins when the previous one ends, the first at
// 0; the last ends with the iteration. Empty if no rank has an op.
std::vector<PathStep> CriticalPath(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PATH_CRITICAL_PATH_H_
