// Hooks for the topology of the host: the GPUs that take part, and the results of past searches.
#include "simccl/hacknccl/solo/topology.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks.h"
#include "comm.h"
#include "graph.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/graph_findings.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "topo.h"
#include "transport.h"
#include "utils.h"
#include "xml.h"

namespace drydock {
namespace {

// Results by key, with local indices for GPUs.
std::map<std::string, ncclTopoGraph>& Searches() {
  static std::map<std::string, ncclTopoGraph> searches;
  return searches;
}

// Finds the <gpu> of a rank.
ncclResult_t FindGpu(ncclXml* xml, const ncclPeerInfo& peer, ncclXmlNode** node) {
  char bus_id[32];
  NCCLCHECK(int64ToBusId(peer.busId, bus_id));
  NCCLCHECK(ncclTopoFillGpu(xml, bus_id, node));
  if (*node != nullptr) return ncclSuccess;
  WARN("the topology XML has no GPU at %s", bus_id);
  return ncclInvalidArgument;
}

void CopyXml(const ncclXml& from, ncclXml* to) {
  memcpy(static_cast<void*>(to), &from, xmlMemSize(from.maxIndex));
}

// Removes a <pci> and every parent that becomes empty, as NCCL trims.
ncclResult_t Remove(ncclXmlNode* node) {
  while (node->parent != nullptr && strcmp(node->name, "system") != 0) {
    ncclXmlNode* parent = node->parent;
    NCCLCHECK(xmlRemoveNode(node));
    if (parent->nSubs > 0) return ncclSuccess;
    node = parent;
  }
  return ncclSuccess;
}

// Changes a serialized XML of a tray to what `rank` would send: its machine with only its own GPU.
ncclResult_t BecomeRank(int rank, ncclXml* xml) {
  const VirtualRank& self = CurrentRank();
  const HostClass& host = self.host_class();
  const hacknccl_place& place = self.layout->places[static_cast<size_t>(rank)];
  const int tray = host.TrayOf(place.gpu);
  const auto base = reinterpret_cast<uintptr_t>(xml->nodes);
  NCCLCHECK(ncclTopoConvertXml(xml, base, 0));
  for (int i = 0; i < xml->maxIndex; ++i) {
    ncclXmlNode* node = xml->nodes + i;
    if (node->type == NODE_TYPE_NONE) continue;
    if (strcmp(node->name, "cpu") == 0 && tray != self.tray()) {
      // Any distinct number: NCCL distinguishes machines by it.
      NCCLCHECK(xmlSetAttrLong(node, "host_hash", static_cast<int64_t>(getHostHash()) + 1 + tray));
    } else if (strcmp(node->name, "net") == 0 && host.trays > 1) {
      int device = 0;
      NCCLCHECK(xmlGetAttrInt(node, "dev", &device));
      NCCLCHECK(xmlSetAttrLong(node, "guid", static_cast<int64_t>(NicGuid(tray, device))));
    } else if (strcmp(node->name, "gpu") == 0 && node->parent->type != NODE_TYPE_NONE) {
      const char* bus_id = nullptr;
      NCCLCHECK(xmlGetAttrStr(node->parent, "busid", &bus_id));
      const bool own = host.gpu_bus_ids[static_cast<size_t>(place.gpu)] == bus_id;
      NCCLCHECK(own ? xmlSetAttrInt(node, "rank", rank) : Remove(node->parent));
    }
  }
  return ncclTopoConvertXml(xml, base, 1);
}

}  // namespace

std::vector<int> RanksOf(const ncclTopoSystem& system) {
  std::vector<int> ranks;
  for (int g = 0; g < system.nodes[GPU].count; ++g) {
    ranks.push_back(system.nodes[GPU].nodes[g].gpu.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

namespace {

// Numbers the ranks of a topology by their index; the destructor restores them.
class AsIndices {
 public:
  explicit AsIndices(ncclComm* comm) : comm_(comm), rank_(comm->rank), ranks_(comm->nRanks) {
    for (int g = 0; g < gpus(); ++g) {
      int& rank = comm->topo->nodes[GPU].nodes[g].gpu.rank;
      rank_of_gpu_.push_back(std::exchange(rank, g));
    }
    // One rank represents all ranks of other hosts.
    comm->nRanks = gpus() + (ranks_ > gpus() ? 1 : 0);
  }
  ~AsIndices() {
    for (int g = 0; g < gpus(); ++g) {
      comm_->topo->nodes[GPU].nodes[g].gpu.rank = rank_of_gpu_[static_cast<size_t>(g)];
    }
    comm_->rank = rank_;
    comm_->nRanks = ranks_;
  }
  AsIndices(const AsIndices&) = delete;
  AsIndices& operator=(const AsIndices&) = delete;
  int gpus() const { return comm_->topo->nodes[GPU].count; }

 private:
  ncclComm* comm_;
  int rank_, ranks_;
  std::vector<int> rank_of_gpu_;
};

}  // namespace

ncclResult_t ChannelsPerPeer(ncclComm* comm, int* channels) {
  const int own = comm->p2pnChannelsPerPeer;
  *channels = own;
  const AsIndices indices(comm);
  for (int g = 0; g < indices.gpus(); ++g) {
    comm->rank = g;
    NCCLCHECK(ncclTopoComputeP2pChannelsPerPeer(comm));
    *channels = std::min(*channels, comm->p2pnChannelsPerPeer);
  }
  comm->p2pnChannelsPerPeer = own;
  return ncclSuccess;
}

// Keeps all neighbors, on every tray: GatherTopologies makes every rank's XML of this one.
ncclResult_t AddLocalGpus(ncclComm* comm, ncclXml* xml) {
  const Layout& layout = *CurrentRank().layout;
  for (const int rank : layout.NeighborsOn(layout.host_of_rank[static_cast<size_t>(comm->rank)])) {
    if (rank == comm->rank) continue;  // NCCL has just done its own
    ncclXmlNode* node = nullptr;
    NCCLCHECK(FindGpu(xml, comm->peerInfo[rank], &node));
    NCCLCHECK(xmlSetAttrInt(node, "keep", 1));
    int gdr = -1;
    NCCLCHECK(xmlGetAttrIndex(node, "gdr", &gdr));
    if (gdr == -1) NCCLCHECK(xmlSetAttrInt(node, "gdr", comm->peerInfo[rank].gdrSupport));
  }
  return ncclSuccess;
}

// One XML per rank: the order in which NCCL meets GPUs decides between rings of equal quality.
ncclResult_t GatherTopologies(ncclComm* comm, int* ranks, int own, int count, char* records) {
  if (CurrentRank().layout->kind_of(comm->rank).trays.size() > 1 && !comm->MNNVL) {
    CurrentGraphs().correction.no_multi_node_nvlink = true;
    return ncclInvalidUsage;
  }
  const size_t bytes = xmlMemSize(NCCL_TOPO_XML_MAX_NODES);
  const auto record = [&](int index) {
    return reinterpret_cast<ncclXml*>(records + bytes * static_cast<size_t>(index));
  };
  for (int i = 0; i < count; ++i) {
    if (i == own) continue;
    CopyXml(*record(own), record(i));
    NCCLCHECK(BecomeRank(ranks[i], record(i)));
  }
  return BecomeRank(comm->rank, record(own));
}

struct GraphSearch::Key {
  std::string text;
  bool recalled = false;
};

// The search depends on the topology (the class, the GPUs in order, their neighbors, and whether
// there are other hosts), on the settings (fixed for the library), and on fields of `graph`.
GraphSearch::GraphSearch(ncclTopoSystem* system, ncclTopoGraph* graph)
    : key_(new Key), system_(system), graph_(graph) {
  const VirtualRank& self = CurrentRank();
  const Layout::Kind& kind = self.layout->kind_of(self.rank);
  std::string& text = key_->text;
  const auto add = [&text](int64_t value) { text += std::to_string(value) + ' '; };
  add(static_cast<int64_t>(self.host_class().identity));
  add(self.host_class().compute_capability);
  add(self.host_class().collnet);
  for (const int gpu : kind.neighbors.gpus) add(gpu);
  text += "of which ";
  for (const int seat : kind.seats) add(seat);
  text += "of ";
  add(self.layout->hosts.size() > 1);
  for (const int value : {graph->id, graph->pattern, graph->crossNic, graph->collNet,
                          graph->minChannels, graph->maxChannels}) {
    add(value);
  }
}

bool GraphSearch::Recall() {
  // GatherGraphs will report that the layout is wrong. Until then an empty graph does.
  if (RanksOf(*system_) != CurrentRank().layout->host_of(CurrentRank().rank).ranks) {
    graph_->nChannels = 0;
    return key_->recalled = true;
  }
  const auto found = Searches().find(key_->text);
  if (found == Searches().end()) return false;
  const ncclTopoGraph& stored = found->second;
  const std::vector<int>& ranks = CurrentRank().layout->host_of(CurrentRank().rank).ranks;
  // Copies only the entries in use of the lists, which are most of a graph.
  memcpy(static_cast<void*>(graph_), &stored, offsetof(ncclTopoGraph, intra));
  memcpy(graph_->inter, stored.inter, sizeof stored.inter);
  const int entries = stored.nChannels * system_->nodes[GPU].count;
  for (int i = 0; i < entries; ++i) {
    graph_->intra[i] = ranks[static_cast<size_t>(stored.intra[i])];
  }
  key_->recalled = true;
  return true;
}

GraphSearch::~GraphSearch() {
  // A failed search leaves no channels. Only NVLS may succeed without channels.
  const bool succeeded = graph_->nChannels > 0 || graph_->pattern == NCCL_TOPO_PATTERN_NVLS;
  if (!key_->recalled && succeeded) {
    ncclTopoGraph& stored = Searches()[key_->text] = *graph_;
    const std::vector<int>& locals = CurrentRank().layout->local_of_rank;
    const int entries = stored.nChannels * system_->nodes[GPU].count;
    for (int i = 0; i < entries; ++i) {
      stored.intra[i] = locals[static_cast<size_t>(stored.intra[i])];
    }
  }
  delete key_;
}

}  // namespace drydock
