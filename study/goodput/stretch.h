// Training between two restarts: steps, and a checkpoint after every so many of them.
//
//   synchronous    | steps     |save| steps     |save| steps
//   asynchronous   | steps     |snapshot| steps       |snapshot| steps
//                                       |~~~ write ~~~|  the checkpoint counts from its end
//
// Times are seconds. Pure functions.
#ifndef DRYDOCK_STUDY_GOODPUT_STRETCH_H_
#define DRYDOCK_STUDY_GOODPUT_STRETCH_H_

#include <cstdint>

namespace drydock {

struct Schedule {
  double step = 0;          // time of an iteration
  double writing_step = 0;  // the same while a checkpoint is being written; asynchronous only
  int64_t steps = 1;        // from one checkpoint to the next
  double stall = 0;         // of the save, or of the snapshot
  double write = 0;         // after the snapshot; 0: synchronous
};

// Returns true if a write ends before the next one begins.
bool IsPossible(const Schedule& schedule);

// What a stretch of `seconds` has come to. The parts add up to it: steps done, saves and
// interference; a step that has begun counts by its share.
struct Stretch {
  double done = 0;          // steps, as step time without interference
  double kept = 0;          // of these, what the last checkpoint has
  double saving = 0;        // stalls
  double interference = 0;  // by which steps took longer
};
Stretch After(const Schedule& schedule, double seconds);

// When the first checkpoint at or after `seconds` is complete; training stops for it.
double EndOfCheckpointAfter(const Schedule& schedule, double seconds);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_STRETCH_H_
