// From a list of places to hosts and kinds of hosts.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_

#include <map>
#include <string>
#include <vector>

#include "simccl/hacknccl/session.h"

namespace drydock {

// "" if the places can form a communicator, else what is wrong with them.
std::string CheckPlaces(const std::vector<HostClass>& classes,
                        const std::vector<hacknccl_place>& places);

// "" if every host can reach the others, else which cannot.
std::string CheckNics(const std::vector<HostClass>& classes, const Layout& layout);

// What NCCL has said of hosts that nothing but its own search of a topology tells.
struct Findings {
  // Whether the trays of a rack are neighbours: NCCL uses multi-node NVLink where all ranks are in
  // racks, unless a setting forbids it.
  bool multi_node_nvlink = true;
  // How NCCL makes hosts of neighbours: for each seat the first seat of its host. Absent: one host.
  std::map<Neighbours, std::vector<int>> divisions;

  std::vector<int> DivisionOf(const Neighbours& neighbours) const;
  // Notes what the real rank `rank` of a communicator with this layout found. False if that is not
  // news.
  bool Add(const Layout& layout, int rank, const Correction& correction);
};

// Requires CheckPlaces() == "".
Layout MakeLayout(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places,
                  const Findings& findings = {});

// Which ranks of a communicator form the part of this color, in NCCL's order.
std::vector<int> RanksOfColor(const std::vector<SplitWish>& wishes, int color);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_
