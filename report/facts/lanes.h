// A rank's timeline at the resolution of a picture: the iteration is divided into columns of equal
// length, and each column shows its largest kind and how full it is. Pure functions; exact integer
// sums, so the picture is the same on every machine.
#ifndef DRYDOCK_REPORT_FACTS_LANES_H_
#define DRYDOCK_REPORT_FACTS_LANES_H_

#include <vector>

#include "report/inputs/inputs.h"

namespace drydock {

// Columns [begin, end) that show the same thing.
struct LaneRun {
  int begin = 0;
  int end = 0;
  int what = 0;
  int quarters = 0;  // fullness of the columns, rounded: 1 to 4
  bool operator==(const LaneRun&) const = default;
};

// The time [begin, end) of the iteration, which shows `what`.
struct Interval {
  Time begin, end;
  int what = 0;
};
// REQUIRES: each `what` is below `kinds`; `length` is above 0.
std::vector<LaneRun> LaneOf(const std::vector<Interval>& intervals, Time length, int columns,
                            int kinds);

// `what` is the Phase of the running compute op. Nearly empty columns are left out.
std::vector<LaneRun> ComputeLane(const Inputs& inputs, int rank, int columns);

// `what` is the Dimension whose data moves, without waits.
std::vector<LaneRun> CommunicationLane(const Inputs& inputs, int rank, int columns);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_LANES_H_
