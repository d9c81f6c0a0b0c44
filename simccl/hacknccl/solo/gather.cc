// Hooks that stand in for absent ranks: their records in the two exchanges that shape a
// communicator, and the trees of all ranks.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>

#include "checks.h"
#include "comm.h"
#include "graph.h"
#include "simccl/hacknccl/communicator/describe.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/graph_findings.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "simccl/hacknccl/solo/topology.h"
#include "topo.h"
#include "transport.h"
#include "utils.h"

namespace drydock {
namespace {

// Copies the GPU lists of a graph with every entry e replaced by to[e]: ranks by local indices, or
// local indices by ranks. Copies only the channels in use.
void MapGpus(const ncclTopoGraph& graph, size_t gpus, const std::vector<int>& to,
             ncclTopoGraph* out) {
  const size_t entries = static_cast<size_t>(graph.nChannels) * gpus;
  for (size_t i = 0; i < entries; ++i) out->intra[i] = to[static_cast<size_t>(graph.intra[i])];
}

// Copies everything but the GPU lists, which are mostly unused.
void CopyOutline(const ncclTopoGraph& graph, ncclTopoGraph* out) {
  memcpy(out, &graph, offsetof(ncclTopoGraph, intra));
  memcpy(out->inter, graph.inter, sizeof graph.inter);
}

// The graphs of a kind, for NCCL to use on behalf of any rank of that kind.
class GraphsFor {
 public:
  explicit GraphsFor(const KindGraphs& kind)
      : kind_(kind), graphs_(new ncclTopoGraph[NCCL_NUM_ALGORITHMS]) {
    for (int a = 0; a < NCCL_NUM_ALGORITHMS; ++a) {
      CopyOutline(kind.graphs[a], &graphs_[a]);
      pointers_.push_back(&graphs_[a]);
    }
  }
  ncclTopoGraph** On(const Layout::Host& host) {
    for (int a = 0; a < NCCL_NUM_ALGORITHMS; ++a) {
      MapGpus(kind_.graphs[a], host.ranks.size(), host.ranks, &graphs_[a]);
    }
    return pointers_.data();
  }

 private:
  const KindGraphs& kind_;
  std::unique_ptr<ncclTopoGraph[]> graphs_;
  std::vector<ncclTopoGraph*> pointers_;
};

std::vector<std::unique_ptr<GraphsFor>> GraphsOfKinds() {
  std::vector<std::unique_ptr<GraphsFor>> graphs;
  for (const auto& kind : *CurrentGraphs().kinds)
    graphs.push_back(std::make_unique<GraphsFor>(*kind));
  return graphs;
}

// Runs functions of NCCL on behalf of other ranks. The destructor restores NCCL's own rank.
class Impersonation {
 public:
  explicit Impersonation(ncclComm* comm)
      : comm_(comm),
        rank_(comm->rank),
        node_(comm->node),
        channels_(comm->nChannels),
        local_ranks_(comm->localRanks),
        gpus_(comm->topo->nodes[GPU].count) {}
  ~Impersonation() {
    comm_->rank = rank_;
    comm_->node = node_;
    comm_->nChannels = channels_;
    comm_->localRanks = local_ranks_;
    comm_->topo->nodes[GPU].count = gpus_;
  }
  Impersonation(const Impersonation&) = delete;
  Impersonation& operator=(const Impersonation&) = delete;

  // Runs ncclTopoPreset as `rank` would: finds its ends of rings and trees, and its chains.
  ncclResult_t Preset(int rank, int channels, ncclTopoGraph** graphs, ncclTopoRanks* out) {
    memset(out, 0, sizeof *out);
    comm_->rank = rank;
    comm_->nChannels = channels;
    comm_->topo->nodes[GPU].count =
        static_cast<int>(CurrentRank().layout->host_of(rank).ranks.size());
    return ncclTopoPreset(comm_, graphs, out);
  }
  int own_rank() const { return rank_; }

 private:
  ncclComm* comm_;
  int rank_, node_, channels_, local_ranks_, gpus_;
};

// Returns all ranks, with this rank last so that the communicator is left with this rank's state.
std::vector<int> OwnRankLast(const ncclComm* comm) {
  std::vector<int> order;
  for (int r = 0; r < comm->nRanks; ++r) {
    if (r != comm->rank) order.push_back(r);
  }
  order.push_back(comm->rank);
  return order;
}

}  // namespace

ncclResult_t GatherPeers(ncclComm* comm) {
  const VirtualRank& self = CurrentRank();
  const Layout& layout = *self.layout;
  const ncclPeerInfo own = comm->peerInfo[comm->rank];
  for (int r = 0; r < layout.ranks(); ++r) {
    const hacknccl_place& place = layout.places[static_cast<size_t>(r)];
    const HostClass& host = (*self.classes)[static_cast<size_t>(place.host_class)];
    ncclPeerInfo& peer = comm->peerInfo[r];
    peer = own;
    peer.rank = r;
    // Any distinct numbers: NCCL only compares them. Each GPU has its own process.
    const int tray = host.TrayOf(place.gpu);
    peer.hostHash = 1 + (static_cast<uint64_t>(place.host) << 8) + static_cast<uint64_t>(tray);
    peer.pidHash = 1 + static_cast<uint64_t>(r);  // patch 0014 relies on it
    peer.cudaDev = peer.nvmlDev = place.gpu % host.gpus_per_tray();
    FillFabricInfo(host, place.host, &peer.fabricInfo);
    peer.cudaCompCap = host.compute_capability;
    peer.totalGlobalMem = ROUNDUP(static_cast<size_t>(host.memory_bytes), size_t{1} << 32);
    peer.gdrSupport = host.nics.empty() ? 0 : 1;
    NCCLCHECK(busIdToInt64(host.gpu_bus_ids[static_cast<size_t>(place.gpu)].c_str(), &peer.busId));
  }
  return ncclSuccess;
}

// NCCL computes NVLS channels from the compute capability of each rank (transport/nvls.cc) and does
// not compare them. If hosts differ, ranks wait for messages that others never send.
static ncclResult_t CheckNvlsChannels(const std::vector<std::unique_ptr<KindGraphs>>& kinds) {
  int least = INT_MAX, most = 0;
  for (const auto& kind : kinds) {
    least = std::min(least, kind->nvls_channels);
    most = std::max(most, kind->nvls_channels);
  }
  if (least == 0 || least == most) return ncclSuccess;
  WARN(
      "NCCL sets up %d NVLS channels on one host and %d on another; such a communicator hangs on "
      "real machines (NCCL_NVLS_ENABLE: 0 lets it run)",
      least, most);
  return ncclInvalidUsage;
}

ncclResult_t GatherGraphs(ncclComm* comm, ncclTopoGraph** graphs, void* entries, size_t stride,
                          ncclTopoRanks* first_ranks) {
  GraphFindings& findings = CurrentGraphs();
  const Layout& layout = *CurrentRank().layout;
  char* records = static_cast<char*>(entries);
  const size_t ranks_offset = static_cast<size_t>(reinterpret_cast<char*>(first_ranks) - records);

  const Layout::Host& own_host = layout.host_of(comm->rank);
  if (std::vector<int> found = RanksOf(*comm->topo); found != own_host.ranks) {
    findings.correction.host = std::move(found);
    return ncclInvalidUsage;
  }
  // This rank's findings hold for all hosts of its kind.
  auto own = std::make_unique<KindGraphs>();
  own->graphs.reset(new ncclTopoGraph[NCCL_NUM_ALGORITHMS]);
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; ++a) {
    CopyOutline(*graphs[a], &own->graphs[a]);
    MapGpus(*graphs[a], own_host.ranks.size(), layout.local_of_rank, &own->graphs[a]);
  }
  own->channels = comm->nChannels;
  own->nvls_channels = comm->nvlsSupport ? comm->nvlsChannels : 0;
  NCCLCHECK(ChannelsPerPeer(comm, &own->p2p_channels));
  own->record.assign(records + stride * static_cast<size_t>(comm->rank),
                     records + stride * static_cast<size_t>(comm->rank + 1));
  (*findings.kinds)[static_cast<size_t>(own_host.kind)] = std::move(own);
  if (findings.survey) return ncclRemoteError;
  NCCLCHECK(CheckNvlsChannels(*findings.kinds));
  // NCCL takes the minimum over all ranks; the records hold the values of the models.
  for (const auto& kind : *findings.kinds) {
    comm->p2pnChannelsPerPeer = std::min(comm->p2pnChannelsPerPeer, kind->p2p_channels);
  }

  Impersonation impersonation(comm);
  const auto describe = [&](int rank, GraphsFor* kind_graphs, const KindGraphs& kind) {
    char* record = records + stride * static_cast<size_t>(rank);
    memcpy(record, kind.record.data(), stride);
    return impersonation.Preset(rank, kind.channels, kind_graphs->On(layout.host_of(rank)),
                                reinterpret_cast<ncclTopoRanks*>(record + ranks_offset));
  };
  for (size_t k = 0; k < layout.kinds.size(); ++k) {
    const KindGraphs& kind = *(*findings.kinds)[k];
    GraphsFor kind_graphs(kind);
    for (const Layout::Host& host : layout.hosts) {
      if (static_cast<size_t>(host.kind) != k) continue;
      for (const int rank : host.ranks) {
        if (rank != impersonation.own_rank()) NCCLCHECK(describe(rank, &kind_graphs, kind));
      }
    }
  }
  const KindGraphs& kind = *(*findings.kinds)[static_cast<size_t>(own_host.kind)];
  GraphsFor kind_graphs(kind);
  return describe(impersonation.own_rank(), &kind_graphs, kind);
}

ncclResult_t ConnectAllTrees(ncclComm* comm, ncclTopoGraph**, ConnectTreesFunction connect,
                             int* to_parent, int* to_child0, int* to_child1, int* patterns) {
  ConnectedTrees& connected = CurrentGraphs().connected;
  const Layout& layout = *CurrentRank().layout;
  const int channels = comm->nChannels;  // NCCL doubles them next: trees come in pairs
  auto& trees = connected.trees;
  auto& collnet = connected.collnet;
  trees.assign(MAXCHANNELS, {});
  collnet.assign(MAXCHANNELS, {});
  for (int c = 0; c < 2 * channels; ++c) {
    trees[static_cast<size_t>(c)].resize(static_cast<size_t>(comm->nRanks));
    collnet[static_cast<size_t>(c)].resize(static_cast<size_t>(comm->nRanks));
  }
  std::vector<std::unique_ptr<GraphsFor>> by_kind = GraphsOfKinds();
  const std::vector<int> order = OwnRankLast(comm);
  Impersonation impersonation(comm);
  ncclTopoRanks unused;
  for (const int rank : order) {
    const Layout::Host& host = layout.host_of(rank);
    ncclTopoGraph** graphs = by_kind[static_cast<size_t>(host.kind)]->On(host);
    NCCLCHECK(impersonation.Preset(rank, channels, graphs, &unused));
    comm->node = comm->rankToNode[rank];
    NCCLCHECK(connect(comm, to_parent, to_child0, to_child1, patterns));
    for (int c = 0; c < 2 * channels; ++c) {
      const ncclChannel& channel = comm->channels[c];
      trees[static_cast<size_t>(c)][static_cast<size_t>(rank)] = Described(channel.tree);
      if (comm->config.collnetEnable) {
        collnet[static_cast<size_t>(c)][static_cast<size_t>(rank)] =
            DescribedCollNet(*comm, channel);
      }
    }
  }
  return ncclSuccess;
}

void CopyTrees(ncclComm*, int to, int from) {
  ConnectedTrees& connected = CurrentGraphs().connected;
  connected.trees[static_cast<size_t>(to)] = connected.trees[static_cast<size_t>(from)];
  connected.collnet[static_cast<size_t>(to)] = connected.collnet[static_cast<size_t>(from)];
}

ncclResult_t ConnectAllCollNet(ncclComm* comm, ncclTopoGraph** graphs,
                               ConnectCollNetFunction connect) {
  const Layout& layout = *CurrentRank().layout;
  std::vector<std::unique_ptr<GraphsFor>> by_kind = GraphsOfKinds();
  // NCCL fills the lists of one rank. The lists must be empty before.
  std::vector<ncclDirect> empty;
  const int channels = comm->nChannels;
  for (int c = 0; c < channels; ++c) empty.push_back(comm->channels[c].collnetDirect);
  const std::vector<int> order = OwnRankLast(comm);
  Impersonation impersonation(comm);
  for (const int rank : order) {
    const Layout::Host& host = layout.host_of(rank);
    comm->rank = rank;
    comm->localRanks = static_cast<int>(host.ranks.size());
    for (int c = 0; c < comm->nChannels; ++c) {
      comm->channels[c].collnetDirect = empty[static_cast<size_t>(c)];
    }
    ncclTopoGraph* on_host =
        by_kind[static_cast<size_t>(host.kind)]->On(host)[NCCL_ALGO_COLLNET_DIRECT];
    // Every host has as many heads as the host with the fewest.
    on_host->nChannels = std::min(on_host->nChannels, graphs[NCCL_ALGO_COLLNET_DIRECT]->nChannels);
    if (rank != impersonation.own_rank()) comm->nChannels = 1;  // all are the same
    NCCLCHECK(connect(comm, on_host));
    comm->nChannels = channels;
    for (int c = 0; c < channels; ++c) {
      const ncclDirect& direct = comm->channels[0].collnetDirect;
      auto& place =
          CurrentGraphs().connected.collnet[static_cast<size_t>(c)][static_cast<size_t>(rank)];
      place.head = direct.headRank;
      place.shift = direct.shift;
    }
  }
  return ncclSuccess;
}

ncclResult_t ConnectAllNvls(ncclComm* comm, ConnectNvlsFunction connect, int* heads,
                            int head_count) {
  auto& nvls = CurrentGraphs().connected.nvls;
  const std::vector<int> order = OwnRankLast(comm);
  Impersonation impersonation(comm);
  for (const int rank : order) {
    comm->rank = rank;
    comm->node = comm->rankToNode[rank];
    NCCLCHECK(connect(comm, heads, head_count));
    nvls.resize(static_cast<size_t>(comm->nvlsChannels));
    for (int c = 0; c < comm->nvlsChannels; ++c) {
      nvls[static_cast<size_t>(c)].resize(static_cast<size_t>(comm->nRanks));
      nvls[static_cast<size_t>(c)][static_cast<size_t>(rank)] = Described(comm->channels[c].nvls);
    }
  }
  return ncclSuccess;
}

}  // namespace drydock
