// The utilization of links over the iteration: the bytes that each call sends over a link, by its
// plan, spread evenly over the time in which the sender's data moves. Calls that overlap add up, so
// the load is a step function of time: an average over a column of a picture hides its bursts, and
// the peak and the 99th percentile show them. No network has to measure this load, so it exists for
// every network; the packet network's log, if there is one, stands beside it. Cables are those on
// the routes of a connection's queue pairs (plan_links.h). Not counted: PCIe, and the NVLink
// transfer to a GPU whose NIC sends the data (PXN).
#ifndef DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
#define DRYDOCK_REPORT_FACTS_LINK_LOAD_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

// Shares of a link's rate over some time. `p99`: the load that is not exceeded for 99 % of the
// time. A peak above 1 says that calls ask for more than the link carries.
struct Load {
  double mean = 0, p99 = 0, peak = 0;
};

struct LoadRow {
  std::string name;
  Bandwidth rate;
  std::vector<Load> columns;  // of equal length, which divide the iteration
  Load whole;                 // of the iteration
  int rank = -1;              // whose GPU or NIC the link belongs to; -1: of no requested rank
};

struct LinkLoad {
  std::vector<LoadRow> scale_up;  // of the requested ranks: out of the GPU, into it
  std::vector<LoadRow> nics;      // of all ranks together, then of the requested ranks
  std::vector<LoadRow> cables;    // of the cluster, the highest mean first, then the bursts
  // The same as the packet network has logged it, if it kept a log of this iteration: the bytes on
  // the cable, headers included, of each interval of the log. Never above 1.
  std::vector<LoadRow> logged;
};

// The cables of the cluster, and of the log, that are shown: those with the highest mean, and of
// the others those over which one call asks for most.
inline constexpr size_t kBusiestCables = 24;
inline constexpr size_t kBurstCables = 24;

// Leaves out rows without traffic.
LinkLoad MeasureLinkLoad(const Inputs& inputs, const std::vector<int>& ranks, int columns);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
