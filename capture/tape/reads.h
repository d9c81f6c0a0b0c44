// What the host of a captured program reads from its GPU without that anybody computed it.
#ifndef DRYDOCK_CAPTURE_TAPE_READS_H_
#define DRYDOCK_CAPTURE_TAPE_READS_H_

#include <vector>

#include "capture/log/log_file.h"
#include "capture/tape/iteration.h"
#include "capture/tape/rank_tape.h"

namespace drydock::capture {

// Returns the reads of the whole log, the commonest first: what a program reads before the
// iteration may decide what it does in it.
std::vector<TapeRead> FindReads(const ProcessLog& log, LogRanges* ranges);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_READS_H_
