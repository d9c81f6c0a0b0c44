// The text that --dump prints.
#ifndef DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_
#define DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// Prints counters and accounts of RUN/4-timeline.pb to stdout, and every op if `verbose`.
Status DumpTimeline(const std::string& run, bool verbose);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_
