// The cluster as NCCL is made to see it, and the one communicator that is being worked on.
//
// NCCL asks about "this machine" through dozens of global functions (CUDA, NVML, the environment,
// the network plugin). They all answer out of the current Session: one real rank of a communicator,
// on a host of some class. api.cc sets it under its lock before every entry into NCCL.
//
// A host is what NCCL calls a node: GPUs joined by NVLink or PCIe. It may be one machine, or a rack
// of several (trays), each with its own XML, NICs and operating system (multi-node NVLink); or a
// part of these, where NCCL finds no way between their GPUs that is better than the network. GPUs
// that NCCL sees in one topology before it makes hosts of them are *neighbours*.
//
// Words: a *kind* of host, within one communicator, is a host class plus the GPUs that take part
// and their neighbours, in rank order. Hosts of one kind get the same topology, graphs and NICs
// from NCCL, so one real rank per kind is enough; its host is the kind's *model*.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_H_

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simccl/hacknccl/call_buffers.h"
#include "core/nccl/hacknccl.h"
#include "graph.h"
#include "nccl.h"

namespace drydock {

struct Nic {
  std::string name;
  std::string bus_id;
  int speed_mbps = 0;
};

struct HostClass {
  std::string topology_xml;              // of a tray
  std::vector<std::string> gpu_bus_ids;  // tray by tray, as the NICs
  std::vector<Nic> nics;
  int trays = 1;
  int compute_capability = 0;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  bool multicast = false;
  bool collnet = false;
  uint64_t identity = 0;  // hash of the XML: names the class in any world

  int gpus_per_tray() const { return static_cast<int>(gpu_bus_ids.size()) / trays; }
  int nics_per_tray() const { return static_cast<int>(nics.size()) / trays; }
  int TrayOf(int gpu) const { return gpu / gpus_per_tray(); }
};

// The GPUs of a communicator that see each other in one topology, in rank order.
struct Neighbours {
  int host_class = 0;
  std::vector<int> gpus;
  friend bool operator<(const Neighbours& a, const Neighbours& b) {
    return std::tie(a.host_class, a.gpus) < std::tie(b.host_class, b.gpus);
  }
  friend bool operator==(const Neighbours& a, const Neighbours& b) {
    return a.host_class == b.host_class && a.gpus == b.gpus;
  }
};

// Where the ranks of a communicator live, and what follows from it.
struct Layout {
  struct Host {
    int kind = 0;
    std::vector<int> ranks;  // ascending
    int neighbourhood = 0;
  };
  struct Kind {
    Neighbours neighbours;   // its own GPUs among them
    std::vector<int> seats;  // by local index: which of the neighbours are its own
    std::vector<int> trays;  // of the neighbours, in the order in which NCCL meets them
    int model = 0;           // index into hosts: the first of the kind
  };
  std::vector<hacknccl_place> places;  // by rank
  std::vector<Host> hosts;             // by first rank
  std::vector<Kind> kinds;
  std::vector<int> host_of_rank;
  std::vector<int> local_of_rank;
  std::vector<std::vector<int>> neighbourhoods;  // ranks, ascending
  std::vector<int> seat_of_rank;                 // index in its neighbourhood

  int ranks() const { return static_cast<int>(places.size()); }
  const Host& host_of(int rank) const { return hosts[host_of_rank[rank]]; }
  const Kind& kind_of(int rank) const { return kinds[host_of(rank).kind]; }
  const std::vector<int>& NeighboursOn(int host) const {
    return neighbourhoods[hosts[host].neighbourhood];
  }
  bool AreNeighbours(int host, int other) const {
    return hosts[host].neighbourhood == hosts[other].neighbourhood;
  }
  // The rank with the same seat beside the host `host`, which must be of the kind of the rank's
  // host or of a neighbour's.
  int Counterpart(int rank, int host) const { return NeighboursOn(host)[seat_of_rank[rank]]; }
};

// Where NCCL disagrees with the layout: communicator.cc makes another one then.
struct Correction {
  std::vector<int> host;  // the ranks of this rank's host, fewer than the layout has; ascending
  bool no_multi_node_nvlink = false;
};

// The outcome of NCCL's searches on a kind of host, ranks replaced by local indices.
struct KindGraphs {
  std::unique_ptr<ncclTopoGraph[]> graphs;  // NCCL_NUM_ALGORITHMS of them, some equal
  int channels = 0;
  int nvls_channels = 0;     // 0: no NVLS
  int p2p_channels = 0;      // to a peer, of the rank of the host that has the fewest
  std::vector<char> record;  // what a rank of this kind contributes to the third AllGather
};

// What one call would have launched.
struct CapturedPlan {
  int kind = HACKNCCL_PLAN_LOCAL;
  int kernels = 0;
  int threads = 0;
  std::string symmetric_kernel;
  std::vector<hacknccl_collective> collectives;
  std::vector<hacknccl_exchange> exchanges;
  std::vector<hacknccl_broadcast> broadcasts;
  std::vector<hacknccl_proxy_op> proxy_ops;
  std::vector<hacknccl_batch> batches;
  std::vector<uint32_t> batch_works;
  std::vector<hacknccl_decision> decisions;
};

// Trees of all ranks, as the hooks saw NCCL connect them.
struct Recorded {
  std::vector<std::vector<hacknccl_tree>> trees;  // [channel][rank]
  std::vector<std::vector<hacknccl_nvls>> nvls;
  std::vector<std::vector<hacknccl_collnet>> collnet;  // but for the NICs
};

// What a rank says when its communicator is split; laid out as init.cc's commSplitInfo.
struct SplitWish {
  int key = 0;
  int color = 0;
};

struct Session {
  const std::vector<HostClass>* classes = nullptr;
  const Layout* layout = nullptr;
  int rank = 0;
  std::vector<std::unique_ptr<KindGraphs>>* kind_graphs = nullptr;  // by kind, of the communicator
  bool survey = false;  // stop once this kind's graphs are known
  Correction correction;
  // While a parent is split: its bootstrap, over which every rank tells its color and key.
  const void* split_over = nullptr;
  const std::vector<SplitWish>* split_wishes = nullptr;
  Recorded recorded;
  CapturedPlan captured;
  const CallBuffers* call_buffers = nullptr;  // of the calls that are being made
  // The buffers that are registered with NCCL at present.
  std::vector<CallBuffers::Memory> registered;
  // Whether the NIC at the far end reads or writes its GPU's memory: by graph, channel, the local
  // indices of both ranks, and whether this end sends.
  std::map<std::tuple<const void*, int, int, int, bool>, bool> far_gdr;
  // Connections to hosts of other kinds, of which this rank cannot know it: taken to be so until
  // somebody asks there (Communicator::Launch).
  struct UnknownEnd {
    int graph = 0;  // HACKNCCL_GRAPH_*
    int channel = 0, peer = 0, index = 0;
    bool send = false;
  };
  std::vector<UnknownEnd> unknown_ends;
  int memory_handles = 0;  // NCCL's kind of memory handles while it works on this communicator

  // How each rank of this host, by local index, is joined to CollNet.
  struct CollNetNic {
    int nic = -1;
    bool gdr = false;
    int rail = -1;
  };
  std::vector<CollNetNic> collnet_nics;
  // What NCCL's proxy would free; outlives the communicator.
  std::unique_ptr<void, void (*)(void*)> collnet_resources{nullptr, free};

  const HostClass& host_class() const {
    return (*classes)[static_cast<size_t>(layout->kind_of(rank).neighbours.host_class)];
  }
  const hacknccl_place& place() const { return layout->places[static_cast<size_t>(rank)]; }
  int tray() const { return host_class().TrayOf(place().gpu); }
};

// The session NCCL is running in. Set by api.cc only; a global, not per thread, because NCCL starts
// helper threads within a call. Outside one it is that of a recorded program (recorder.h).
Session& Current();
bool InSession();
// Whether the calling code runs for a recorded program: outside any session, with a launcher.
bool Recording();
void SetCurrent(Session* session);

// NCCL's warnings since the last call of this, one a line.
std::string TakeWarnings();
// What NCCL said of settings that it did not take as they are, since the last call of this.
std::string TakeComplaints();

// From here on NCCL says what it does (its INFO log), and every line goes to `listen`, one at a
// time.
void ListenToLog(void (*listen)(const char* line));

// Fixes the settings. False if others were fixed before.
bool FixSettings(const std::vector<std::pair<std::string, std::string>>& settings);

// The ranks of the GPUs in a topology, ascending.
std::vector<int> RanksOf(const ncclTopoSystem& system);

// How many channels NCCL gives a pair of ranks by the lights of the ranks of this host, of which
// some may be nearer to NICs than others: the least of them.
ncclResult_t ChannelsPerPeer(ncclComm* comm, int* channels);

// The value of a setting, null if it was not given.
const char* Setting(const char* name);

// Bytes of fake device and pinned memory alive.
int64_t FakeMemoryInUse();

// Which NICs, proxy and transport the directed connection from -> to uses on a channel; `graph` is
// one of HACKNCCL_GRAPH_*. `from_comm` and `to_comm` are communicators on the models of the two
// ranks' kinds.
ncclResult_t ResolveLink(const Layout& layout, ncclComm* from_comm, ncclComm* to_comm, int graph,
                         int channel, int from, int to, hacknccl_link* link);

// What the device would do for a PAT collective on one channel of one rank. `work` must be one that
// CapturePlan described, `ranks` the communicator's size. One step more than kMostPatSteps: there
// are more than can be listed: terabytes, in chunks as NCCL takes them.
inline constexpr size_t kMostPatSteps = size_t{1} << 20;
std::vector<hacknccl_pat_step> PatSteps(const hacknccl_collective& work, int channel, int rank,
                                        int ranks);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_H_
