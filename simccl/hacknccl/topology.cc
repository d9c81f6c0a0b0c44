// The host's topology: which GPUs take part, and the memory of past searches.
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "checks.h"
#include "comm.h"
#include "fabric.h"
#include "graph.h"
#include "hooks.h"
#include "session.h"
#include "topo.h"
#include "transport.h"
#include "utils.h"
#include "xml.h"

namespace drydock {
namespace {

// Outcomes by key, GPUs as local indices.
std::map<std::string, ncclTopoGraph>& Searches() {
  static std::map<std::string, ncclTopoGraph> searches;
  return searches;
}

// The <gpu> of a rank.
ncclResult_t FindGpu(ncclXml* xml, const ncclPeerInfo& peer, ncclXmlNode** node) {
  char bus_id[32];
  NCCLCHECK(int64ToBusId(peer.busId, bus_id));
  NCCLCHECK(ncclTopoFillGpu(xml, bus_id, node));
  if (*node != nullptr) return ncclSuccess;
  WARN("the topology XML has no GPU at %s", bus_id);
  return ncclInvalidArgument;
}

// A serialised XML: `whole`, or just its <system>, which is enough where there is nothing to add.
void CopyXml(const ncclXml& from, bool whole, ncclXml* to) {
  const int nodes = whole ? from.maxIndex : 1;
  memcpy(static_cast<void*>(to), &from, xmlMemSize(nodes));
  to->maxIndex = nodes;
  if (!whole) to->nodes[0].nSubs = 0;
}

// Takes a <pci> out, and what has nothing left in it then, as NCCL trims.
ncclResult_t Remove(ncclXmlNode* node) {
  while (node->parent != nullptr && strcmp(node->name, "system") != 0) {
    ncclXmlNode* parent = node->parent;
    NCCLCHECK(xmlRemoveNode(node));
    if (parent->nSubs > 0) return ncclSuccess;
    node = parent;
  }
  return ncclSuccess;
}

// Makes a serialised XML that of a tray of the domain: its ranks, host and NICs. The GPUs of no
// rank go.
ncclResult_t BecomeTray(const Layout::Kind& kind, const std::vector<int>& ranks, int tray,
                        ncclXml* xml) {
  const HostClass& host = Current().host_class();
  std::map<std::string, int> rank_at;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (host.TrayOf(kind.gpus[i]) != tray) continue;
    rank_at[host.gpu_bus_ids[static_cast<size_t>(kind.gpus[i])]] = ranks[i];
  }
  const auto base = reinterpret_cast<uintptr_t>(xml->nodes);
  NCCLCHECK(ncclTopoConvertXml(xml, base, 0));
  for (int i = 0; i < xml->maxIndex; ++i) {
    ncclXmlNode* node = xml->nodes + i;
    if (node->type == NODE_TYPE_NONE) continue;
    if (strcmp(node->name, "cpu") == 0 && tray != Current().tray()) {
      // Any distinct number: NCCL tells machines apart by it.
      NCCLCHECK(xmlSetAttrLong(node, "host_hash", static_cast<int64_t>(getHostHash()) + 1 + tray));
    } else if (strcmp(node->name, "net") == 0 && host.trays > 1) {
      int device = 0;
      NCCLCHECK(xmlGetAttrInt(node, "dev", &device));
      NCCLCHECK(xmlSetAttrLong(node, "guid", static_cast<int64_t>(NicGuid(tray, device))));
    } else if (strcmp(node->name, "gpu") == 0 && node->parent->type != NODE_TYPE_NONE) {
      const char* bus_id = nullptr;
      NCCLCHECK(xmlGetAttrStr(node->parent, "busid", &bus_id));
      const auto rank = rank_at.find(bus_id);
      NCCLCHECK(rank == rank_at.end() ? Remove(node->parent)
                                      : xmlSetAttrInt(node, "rank", rank->second));
    }
  }
  return ncclTopoConvertXml(xml, base, 1);
}

}  // namespace

// GPUs that no rank of this tray has but another tray's do are kept as well: GatherTopologies makes
// every tray out of this one.
ncclResult_t AddLocalGpus(ncclComm* comm, ncclXml* xml) {
  const Session& session = Current();
  const Layout::Kind& kind = session.layout->kind_of(comm->rank);
  const int per_tray = session.host_class().gpus_per_tray();
  const std::vector<int>& ranks = session.layout->host_of(comm->rank).ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == comm->rank) continue;  // NCCL has just done its own
    ncclXmlNode* node = nullptr;
    NCCLCHECK(FindGpu(xml, comm->peerInfo[ranks[i]], &node));
    NCCLCHECK(xmlSetAttrInt(node, "keep", 1));
    if (kind.gpus[i] / per_tray == session.tray()) NCCLCHECK(xmlSetAttrInt(node, "rank", ranks[i]));
    int gdr = -1;
    NCCLCHECK(xmlGetAttrIndex(node, "gdr", &gdr));
    if (gdr == -1) NCCLCHECK(xmlSetAttrInt(node, "gdr", comm->peerInfo[ranks[i]].gdrSupport));
  }
  return ncclSuccess;
}

ncclResult_t GatherTopologies(ncclComm* comm, int*, int own, int count, char* records) {
  const size_t bytes = xmlMemSize(NCCL_TOPO_XML_MAX_NODES);
  const auto record = [&](int rank) {
    return reinterpret_cast<ncclXml*>(records + bytes * static_cast<size_t>(rank));
  };
  const Layout& layout = *Current().layout;
  const Layout::Kind& kind = layout.kind_of(comm->rank);
  const std::vector<int>& ranks = layout.host_of(comm->rank).ranks;
  if (kind.trays.size() > 1 && !comm->MNNVL) {
    WARN("these settings switch off multi-node NVLink, which the ranks of a rack need");
    return ncclInvalidUsage;
  }
  const HostClass& host = Current().host_class();
  std::set<int> seen;
  for (int i = 0; i < count; ++i) {
    const int tray = host.TrayOf(kind.gpus[static_cast<size_t>(i)]);
    const bool first = seen.insert(tray).second;
    if (i == own) continue;
    CopyXml(*record(own), first && tray != Current().tray(), record(i));
    if (first && tray != Current().tray()) NCCLCHECK(BecomeTray(kind, ranks, tray, record(i)));
  }
  return BecomeTray(kind, ranks, Current().tray(), record(own));
}

struct GraphSearch::Key {
  std::string text;
  bool recalled = false;
};

// The search reads the topology (fixed by the class, the GPUs in order, and whether there are other
// hosts), the settings (fixed for the library) and the fields set in `graph` before it.
GraphSearch::GraphSearch(ncclTopoSystem* system, ncclTopoGraph* graph)
    : key_(new Key), system_(system), graph_(graph) {
  const Session& session = Current();
  const Layout::Kind& kind = session.layout->kind_of(session.rank);
  std::string& text = key_->text;
  const auto add = [&text](int64_t value) { text += std::to_string(value) + ' '; };
  add(static_cast<int64_t>(session.host_class().identity));
  add(session.host_class().compute_capability);
  add(session.host_class().collnet);
  for (const int gpu : kind.gpus) add(gpu);
  text += "of ";
  add(session.layout->hosts.size() > 1);
  for (const int value : {graph->id, graph->pattern, graph->crossNic, graph->collNet,
                          graph->minChannels, graph->maxChannels}) {
    add(value);
  }
}

bool GraphSearch::Recall() {
  const auto found = Searches().find(key_->text);
  if (found == Searches().end()) return false;
  *graph_ = found->second;
  const std::vector<int>& ranks = Current().layout->host_of(Current().rank).ranks;
  const int entries = graph_->nChannels * system_->nodes[GPU].count;
  for (int i = 0; i < entries; ++i) {
    graph_->intra[i] = ranks[static_cast<size_t>(graph_->intra[i])];
  }
  key_->recalled = true;
  return true;
}

GraphSearch::~GraphSearch() {
  // A search that failed leaves no channels; only NVLS may rightly have none.
  const bool worth = graph_->nChannels > 0 || graph_->pattern == NCCL_TOPO_PATTERN_NVLS;
  if (!key_->recalled && worth) {
    ncclTopoGraph& stored = Searches()[key_->text] = *graph_;
    const std::vector<int>& locals = Current().layout->local_of_rank;
    const int entries = stored.nChannels * system_->nodes[GPU].count;
    for (int i = 0; i < entries; ++i) {
      stored.intra[i] = locals[static_cast<size_t>(stored.intra[i])];
    }
  }
  delete key_;
}

}  // namespace drydock
