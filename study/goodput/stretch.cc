#include "study/goodput/stretch.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

double WorkOf(const Schedule& schedule) {
  return static_cast<double>(schedule.steps) * schedule.step;
}

// The time of a cycle's steps, of which the first ones run beside the write.
double SlowedTime(const Schedule& schedule) {
  if (schedule.write <= 0) return WorkOf(schedule);
  return WorkOf(schedule) + schedule.write * (1 - schedule.step / schedule.writing_step);
}

// The work of a cycle's steps after `seconds` of them, as step time.
double SlowedWork(const Schedule& schedule, double seconds) {
  if (schedule.write <= 0) return seconds;
  return seconds - std::min(seconds, schedule.write) * (1 - schedule.step / schedule.writing_step);
}

}  // namespace

bool IsPossible(const Schedule& schedule) {
  return schedule.write <= 0 || schedule.write <= SlowedTime(schedule);
}

Stretch After(const Schedule& schedule, double seconds) {
  const double work = WorkOf(schedule);
  Stretch out;
  // The first cycle has no write beside it.
  if (seconds < work) {
    out.done = seconds;
    return out;
  }
  const double first = work + schedule.stall;
  if (seconds < first) {
    out.done = work;
    out.saving = seconds - work;
    return out;
  }
  const double steps = SlowedTime(schedule), cycle = steps + schedule.stall;
  const double later = std::floor((seconds - first) / cycle);
  const double rest = seconds - first - later * cycle;
  const double stepping = std::min(rest, steps);
  const double begun = SlowedWork(schedule, stepping);
  out.done = work * (later + 1) + begun;
  out.saving = schedule.stall * (later + 1) + (rest - stepping);
  out.interference = (steps - work) * later + (stepping - begun);
  // The last snapshot counts once it is written.
  out.kept = work * (schedule.write > rest ? later : later + 1);
  return out;
}

double EndOfCheckpointAfter(const Schedule& schedule, double seconds) {
  const double first = WorkOf(schedule) + schedule.stall;
  if (seconds <= first) return first + schedule.write;
  const double cycle = SlowedTime(schedule) + schedule.stall;
  return first + std::ceil((seconds - first) / cycle) * cycle + schedule.write;
}

}  // namespace drydock
