// Two runs side by side: what differs, and by how much. Plain data; pure functions.
#ifndef DRYDOCK_REPORT_OUTPUT_COMPARE_H_
#define DRYDOCK_REPORT_OUTPUT_COMPARE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/facts/summary.h"

namespace drydock {

// A time in both runs; nothing where one has no such thing, which is not the same as no time.
struct ComparedTime {
  std::string name;
  std::optional<Time> here, there;
};

struct Comparison {
  std::string run;   // the other one, as the user named it
  std::string what;  // its model, cluster, layout and network
  Rates here, there;
  std::vector<ComparedTime> parts;  // means over the ranks, where either has any
  std::vector<ComparedTime> path;   // of the critical path
  std::vector<ComparedTime> calls;  // medians; this run's costliest first, then those it lacks
};

Comparison Compare(const Summary& here, const Summary& there, const std::string& run);

// "+1.20 %": the other run against this one; "" if this one has none.
std::string Change(double here, double there);

std::string ComparisonText(const Comparison& comparison);     // for a terminal, 100 columns
std::string ComparisonSection(const Comparison& comparison);  // of the page

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_COMPARE_H_
