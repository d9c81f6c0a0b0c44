// The timeline as a Chrome trace (JSON, gzip), which Perfetto and chrome://tracing open: a process
// for each rank, a thread for each of its streams, a complete event for each op, and an arrow from
// each send to its receive if both ranks are shown. The critical path comes first.
// docs/reference/report.md describes the events.
//
// Compresses events as it writes them, so only the compressed file is in memory. The bytes depend
// on the arguments alone.
#ifndef DRYDOCK_REPORT_OUTPUT_TRACE_H_
#define DRYDOCK_REPORT_OUTPUT_TRACE_H_

#include <string>
#include <vector>

#include "report/path/critical_path.h"
#include "report/inputs/inputs.h"

namespace drydock {

// `ranks`: the ranks to show, ascending.
std::string TraceOf(const Inputs& inputs, const std::vector<int>& ranks,
                    const std::vector<PathStep>& path = {});

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_TRACE_H_
