// Where an iteration's time goes: the parts of Timeline::accounts (docs/explanation/accounting.md)
// over the ranks that work (Inputs::works) and over each rank class. Means are rounded down to a
// picosecond. Pure functions of their arguments.
#ifndef DRYDOCK_REPORT_INPUTS_BREAKDOWN_H_
#define DRYDOCK_REPORT_INPUTS_BREAKDOWN_H_

#include <array>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/model/timeline.h"
#include "report/inputs/inputs.h"

namespace drydock {

// In this order: compute, exposed communication by Dimension, exposed memory, host, straggler wait,
// bubble, idle.
inline constexpr int kPartCount = 1 + kDimensionCount + 5;
inline constexpr int kHostPart = kPartCount - 4;
using Parts = std::array<Time, kPartCount>;
Parts PartsOf(const TimeAccount& account);
std::string PartName(int part);  // "compute", "exposed tensor", ..., "host", "straggler wait", ...

// One part over the ranks that work; zero if there are none.
struct PartSummary {
  Time mean;
  Time max;
  int max_rank = 0;  // the lowest rank with `max`
};
std::array<PartSummary, kPartCount> SummarizeParts(const Inputs& inputs);
// The part `host` by cause.
std::array<PartSummary, kHostCauseCount> SummarizeHost(const Inputs& inputs);

// A rank class: one pipeline stage, or one kind of rank within it.
struct ClassBreakdown {
  std::vector<int> ranks;   // ascending, never empty
  std::vector<int> layers;  // of its ops; ascending
  Parts mean;
};
std::vector<ClassBreakdown> BreakdownByClass(const Inputs& inputs);

// Returns ascending numbers as ranges: "0-7, 16-23".
std::string RangesOf(const std::vector<int>& numbers);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_INPUTS_BREAKDOWN_H_
