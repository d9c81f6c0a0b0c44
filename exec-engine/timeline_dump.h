// What --dump prints of a timeline.
#ifndef DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_
#define DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// RUN/4-timeline.pb on stdout: counters and accounts; `verbose`: every op as well.
Status DumpTimeline(const std::string& run, bool verbose);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TIMELINE_DUMP_H_
