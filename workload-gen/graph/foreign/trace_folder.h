// A folder of Chakra traces, one a rank: "<prefix>.<rank>.et", as ASTRA-sim names them.
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

// `place` is the folder, or folder and prefix where several lie there. An error if ranks are
// missing between the first and the last, or from 0.
Result<TraceFolder> FindTraces(const std::string& place);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TRACE_FOLDER_H_
