// A rank's timeline at the resolution of a picture: the iteration is cut into columns of equal
// length, and each column shows what took most of it and how full it is. Pure functions; exact
// integer sums, so the same picture everywhere.
#ifndef DRYDOCK_REPORT_FACTS_LANES_H_
#define DRYDOCK_REPORT_FACTS_LANES_H_

#include <vector>

#include "report/facts/inputs.h"

namespace drydock {

// Columns [begin, end) that show the same thing.
struct LaneRun {
  int begin = 0;
  int end = 0;
  int what = 0;
  int quarters = 0;  // how full the columns are, rounded: 1 to 4
  bool operator==(const LaneRun&) const = default;
};

// [begin, end) of the iteration that shows `what`.
struct Interval {
  Time begin, end;
  int what = 0;
};
// `what` is below `kinds`; `length` above 0.
std::vector<LaneRun> LaneOf(const std::vector<Interval>& intervals, Time length, int columns,
                            int kinds);

// `what` is the Phase of the compute op that runs. Columns with next to nothing are left
// out.
std::vector<LaneRun> ComputeLane(const Inputs& inputs, int rank, int columns);

// `what` is the Dimension whose data moves; waiting is left out.
std::vector<LaneRun> CommunicationLane(const Inputs& inputs, int rank, int columns);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_LANES_H_
