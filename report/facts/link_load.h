// The utilization of links over the iteration: the bytes that each call sends over a link, by its
// plan, spread evenly over the time in which the sender's data moves. The network does not measure
// it, so it exists for every network. Cables are those on the routes of a connection's queue pairs
// (plan_links.h). Not counted: PCIe, and the NVLink transfer to a GPU whose NIC sends the data
// (PXN).
#ifndef DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
#define DRYDOCK_REPORT_FACTS_LINK_LOAD_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

struct LoadRow {
  std::string name;
  Bandwidth rate;
  std::vector<double> share;  // of the rate, by column
  double mean = 0;            // over the iteration
};

struct LinkLoad {
  std::vector<LoadRow> scale_up;  // of the requested ranks: out of the GPU, into it
  std::vector<LoadRow> nics;      // of all ranks together, then of the requested ranks
  std::vector<LoadRow> cables;    // of the cluster, the busiest first
};

inline constexpr size_t kBusiestCables = 16;

// Leaves out rows without traffic.
LinkLoad MeasureLinkLoad(const Inputs& inputs, const std::vector<int>& ranks, int columns);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
