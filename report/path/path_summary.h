// The critical path by part, op and link, and as a table.
#ifndef DRYDOCK_REPORT_PATH_PATH_SUMMARY_H_
#define DRYDOCK_REPORT_PATH_PATH_SUMMARY_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "report/path/critical_path.h"
#include "report/inputs/inputs.h"

namespace drydock {

// The parts of the path, in this order: compute, communication by Dimension, memory, host.
inline constexpr int kPathPartCount = 1 + kDimensionCount + 2;
inline constexpr int kPathHostPart = kPathPartCount - 1;
std::string PathPartName(int part);  // "compute", "tensor communication", ..., "memory", "host"
int PathPartOf(const Inputs& inputs, const PathStep& step);

// An op or a link on the path, and the time of the path in it.
struct PathShare {
  std::string name;
  Time time;
  int64_t steps = 0;
};

struct PathSummary {
  std::vector<PathStep> steps;
  std::array<Time, kPathPartCount> parts;  // add up to the iteration
  std::vector<PathShare> ops;              // "attention.fwd", "tp all-reduce"; the longest first
  std::vector<PathShare> links;            // the longest first; a transfer crosses several
  int64_t jumps = 0;                       // from rank to rank
  int ranks = 0;                           // that the path visits
};
PathSummary SummarizePath(const Inputs& inputs);

// Returns every step with its op and its links as CSV; docs/reference/report.md has the columns.
std::string PathCsv(const Inputs& inputs, const PathSummary& path);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PATH_PATH_SUMMARY_H_
