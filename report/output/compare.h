// Two runs side by side and their differences. Plain data; pure functions.
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
};

struct Comparison {
  std::string run;   // the other run, as the user named it
  std::string what;  // its model, cluster, layout and network
  Rates here, there;
  std::vector<ComparedTime> parts;  // means over the ranks, if either is above 0
  std::vector<ComparedTime> path;   // of the critical path
  std::vector<ComparedTime> calls;  // medians; this run's order, then other calls
};

Comparison Compare(const Summary& here, const Summary& there, const std::string& run);

// Returns the change from `here` to `there`, "+1.20 %"; "" if `here` is 0.
std::string Change(double here, double there);

std::string ComparisonText(const Comparison& comparison);     // for a terminal, 100 columns
std::string ComparisonSection(const Comparison& comparison);  // of the page

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_COMPARE_H_
