// Turns a list of places into hosts and kinds of hosts.
//
// A host is what NCCL calls a node: GPUs joined by NVLink or PCIe. It may be one machine; or a rack
// of several machines (trays), each with its own XML, NICs and operating system (multi-node
// NVLink); or a part of either, if NCCL finds no path between GPUs that is better than the network.
// GPUs that NCCL sees in one topology before it divides the topology into hosts are *neighbors*.
//
// Within a communicator, a *kind* of host is a host class plus the GPUs that take part and their
// neighbors, in rank order. NCCL gives hosts of one kind the same topology, graphs and NICs, so
// one real rank per kind is enough. The host of that rank is the kind's *model*.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_LAYOUT_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_LAYOUT_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "simccl/hacknccl/cluster/host_class.h"

namespace drydock {

// The GPUs of a communicator that see each other in one topology, in rank order.
struct Neighbors {
  int host_class = 0;
  std::vector<int> gpus;
  friend bool operator<(const Neighbors& a, const Neighbors& b) {
    return std::tie(a.host_class, a.gpus) < std::tie(b.host_class, b.gpus);
  }
  friend bool operator==(const Neighbors& a, const Neighbors& b) {
    return a.host_class == b.host_class && a.gpus == b.gpus;
  }
};

// The places of a communicator's ranks, and the hosts and kinds that follow from them.
struct Layout {
  struct Host {
    int kind = 0;
    std::vector<int> ranks;  // ascending
    int neighborhood = 0;
  };
  struct Kind {
    Neighbors neighbors;     // includes the host's own GPUs
    std::vector<int> seats;  // by local index: the GPU's index among the neighbors
    std::vector<int> trays;  // of the neighbors, in the order in which NCCL meets them
    int model = 0;           // index into hosts: the first host of the kind
  };
  std::vector<hacknccl_place> places;  // by rank
  std::vector<Host> hosts;             // by first rank
  std::vector<Kind> kinds;
  std::vector<int> host_of_rank;
  std::vector<int> local_of_rank;
  std::vector<std::vector<int>> neighborhoods;  // ranks, ascending
  std::vector<int> seat_of_rank;                // index in its neighborhood

  int ranks() const { return static_cast<int>(places.size()); }
  const Host& host_of(int rank) const { return hosts[host_of_rank[rank]]; }
  const Kind& kind_of(int rank) const { return kinds[host_of(rank).kind]; }
  const std::vector<int>& NeighborsOn(int host) const {
    return neighborhoods[hosts[host].neighborhood];
  }
  bool AreNeighbors(int host, int other) const {
    return hosts[host].neighborhood == hosts[other].neighborhood;
  }
  // Returns the rank with the same seat in the neighborhood of `host`. REQUIRES: `host` is of the
  // kind of the rank's host, or of the kind of a neighbor's host.
  int Counterpart(int rank, int host) const { return NeighborsOn(host)[seat_of_rank[rank]]; }
};

// A disagreement of NCCL with a layout. The communicator then makes another layout.
struct Correction {
  std::vector<int> host;  // the ranks of this rank's host, fewer than in the layout; ascending
  bool no_multi_node_nvlink = false;
};

// Returns "" if the places can form a communicator, else what is wrong with them.
std::string CheckPlaces(const std::vector<HostClass>& classes,
                        const std::vector<hacknccl_place>& places);

// Returns "" if every host can reach the others, else which host cannot.
std::string CheckNics(const std::vector<HostClass>& classes, const Layout& layout);

// Facts about hosts that only NCCL's own search of a topology finds.
struct Findings {
  // Trays of a rack are neighbors: NCCL uses multi-node NVLink if all ranks are in racks, unless a
  // setting forbids it.
  bool multi_node_nvlink = true;
  // How NCCL divides neighbors into hosts: for each seat the first seat of its host. Neighbors
  // without an entry are one host.
  std::map<Neighbors, std::vector<int>> divisions;

  std::vector<int> DivisionOf(const Neighbors& neighbors) const;
  // Adds what the real rank `rank` of a communicator with this layout found. Returns false if that
  // is known already.
  bool Add(const Layout& layout, int rank, const Correction& correction);
};

// REQUIRES: CheckPlaces() == "".
Layout MakeLayout(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places,
                  const Findings& findings = {});

// What a rank requests when its communicator is split; has the layout of init.cc's commSplitInfo.
struct SplitRequest {
  int key = 0;
  int color = 0;
};

// Returns the ranks of the part with this color, in NCCL's order.
std::vector<int> RanksOfColor(const std::vector<SplitRequest>& requests, int color);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_LAYOUT_H_
