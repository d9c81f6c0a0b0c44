// The critical path of the whole cluster: the chain of ops, across ranks, without a gap, that ends
// when the iteration ends. To shorten the iteration, something on it has to become shorter.
//
// It is found from its end backwards (docs/explanation/accounting.md): an op is led back to what
// held it up on its own rank (core/model/op_causes.h), a communication op first to the member that
// was the last to start of all that its data needed.
#ifndef DRYDOCK_REPORT_FACTS_CRITICAL_PATH_H_
#define DRYDOCK_REPORT_FACTS_CRITICAL_PATH_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/facts/inputs.h"
#include "report/facts/plan_links.h"

namespace drydock {

enum class PathKind : uint8_t {
  kCompute,
  kHost,  // the op could start, or its kernels run, but was not launched; or the host's own work
  kTransfer,  // data of a communication op moves
  kMemory,    // a load or a store
};

// A stretch of the path.
struct PathStep {
  Time begin, end;
  PathKind kind = PathKind::kCompute;
  int rank = 0;
  uint32_t op = 0;   // of the rank's program
  int held_by = -1;  // of a transfer: the rank that was the last to start; another one than `rank`:
                     // the path goes on there
};

// In the order of time; each step begins where the one before ends, the first at 0, the last ends
// with the iteration. Empty if no rank has an op.
std::vector<PathStep> CriticalPath(const Inputs& inputs);

// What the path is made of: compute, communication by Dimension, memory, host.
inline constexpr int kPathPartCount = 1 + kDimensionCount + 2;
std::string PathPartName(int part);  // "compute", "tensor communication", ..., "memory", "host"
int PathPartOf(const Inputs& inputs, const PathStep& step);

// Something the path goes through, and for how long.
struct PathShare {
  std::string name;
  Time time;
  int64_t steps = 0;
};

struct PathSummary {
  std::vector<PathStep> steps;
  std::array<Time, kPathPartCount> parts;  // add up to the iteration
  std::vector<PathShare> ops;              // "attention.fwd", "tp all-reduce", the longest first
  std::vector<PathShare> links;  // likewise; a transfer uses several, so they add up to more
  int64_t jumps = 0;             // from rank to rank
  int ranks = 0;                 // that it visits
};
PathSummary SummarisePath(const Inputs& inputs);

// Every step with its op and its links, as CSV; columns in docs/reference/report.md.
std::string PathCsv(const Inputs& inputs, const PathSummary& path);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_CRITICAL_PATH_H_
