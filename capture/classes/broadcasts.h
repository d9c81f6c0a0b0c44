// Small broadcasts in the log of a rank, and messages of integers: programs branch on what they
// bring, so their roots have to run first (kValuesVariable). A message's root is its sender.
#ifndef DRYDOCK_CAPTURE_CLASSES_BROADCASTS_H_
#define DRYDOCK_CAPTURE_CLASSES_BROADCASTS_H_

#include <set>
#include <utility>
#include <vector>

#include "capture/classes/world_groups.h"
#include "capture/log/log_file.h"
#include "capture/tape/rank_tape.h"

namespace drydock::capture {

struct LogBroadcasts {
  std::vector<TapeGroup> groups;              // of the program, as far as the log has them
  std::set<std::pair<GroupKind, int>> roots;  // their positions
  bool unknown = false;                       // some root had not run
};
// A log may end early: its program may have failed.
LogBroadcasts FindBroadcasts(const ProcessLog& log);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_BROADCASTS_H_
