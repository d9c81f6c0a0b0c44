// Two runs side by side and their differences. The other run is the base: a change is a share of
// the other run's value, so of a time, a positive change says that this run is slower. Plain data;
// pure functions.
#ifndef DRYDOCK_REPORT_OUTPUT_COMPARE_H_
#define DRYDOCK_REPORT_OUTPUT_COMPARE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/facts/summary.h"

namespace drydock {

// A time in both runs; absent if a run does not have the item, which is not a time of 0.
struct ComparedTime {
  std::string name;
  std::optional<Time> here, there;

  // The change as a share of `there`; absent if a time is absent, or if `there` is 0.
  std::optional<double> Change() const;
  std::string ChangeText() const;  // "+1.20 %"; "" if absent
};

struct Comparison {
  std::string run;   // the other run, the base, as the user named it
  std::string what;  // its model, cluster, layout and network
  Rates here, there;
  std::vector<ComparedTime> parts;  // means over the ranks, if either is above 0
  std::vector<ComparedTime> path;   // of the critical path
  std::vector<ComparedTime> calls;  // medians; this run's order, then other calls
};

Comparison Compare(const Summary& here, const Summary& there, const std::string& run);

// Returns by how much `value` is above `base`, as a share of `base`: "+1.20 %"; "" if `base` is 0.
std::string Change(double base, double value);

std::string ShownTime(const std::optional<Time>& time);  // "none" if absent

std::string ComparisonText(const Comparison& comparison);  // for a terminal, 100 columns

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_COMPARE_H_
