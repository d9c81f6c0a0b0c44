// How much of their rate links carry in the course of the iteration: what each call sends over a
// link (from its plan), spread evenly over the time in which the sender's data moves. So it is for
// any network: nothing of it is measured on the way. Cables are those that a connection's queue
// pairs are routed over (plan_links.h). Not counted: PCIe, and what NCCL hands to another GPU's NIC
// (PXN) on that GPU's own link.
#ifndef DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
#define DRYDOCK_REPORT_FACTS_LINK_LOAD_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/facts/inputs.h"

namespace drydock {

struct LoadRow {
  std::string name;
  Bandwidth rate;
  std::vector<double> share;  // of the rate, by column
  double mean = 0;            // over the iteration
};

struct LinkLoad {
  std::vector<LoadRow> scale_up;  // of the ranks asked for: out of the GPU, into it
  std::vector<LoadRow> nics;      // of all together, then those of the ranks asked for
  std::vector<LoadRow> cables;    // of the cluster, the busiest first
};

inline constexpr size_t kBusiestCables = 16;

// Rows without any traffic are left out.
LinkLoad MeasureLinkLoad(const Inputs& inputs, const std::vector<int>& ranks, int columns);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_LINK_LOAD_H_
