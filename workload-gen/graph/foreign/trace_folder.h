// A folder of Chakra traces, one per rank, with ASTRA-sim's names "<prefix>.<rank>.et", or .json.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TRACE_FOLDER_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TRACE_FOLDER_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct TraceFolder {
  std::string prefix;              // with the folder: "traces/gpt"
  std::vector<std::string> paths;  // by rank
};

// `place` is the folder, or FOLDER/PREFIX if the folder holds several runs, or one of the traces. A
// single file whose name has no rank is the trace of rank 0. Returns an error unless there is one
// trace for each rank from 0 to the last.
Result<TraceFolder> FindTraces(const std::string& place);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TRACE_FOLDER_H_
