// The host's topology: which GPUs take part, and the memory of past searches.
#include <cstring>
#include <map>
#include <string>

#include "checks.h"
#include "comm.h"
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

}  // namespace

ncclResult_t AddLocalGpus(ncclComm* comm, ncclXml* xml) {
  for (const int rank : Current().layout->host_of(comm->rank).ranks) {
    if (rank == comm->rank) continue;  // NCCL has just done its own
    const ncclPeerInfo& peer = comm->peerInfo[rank];
    char bus_id[32];
    ncclXmlNode* node = nullptr;
    NCCLCHECK(int64ToBusId(peer.busId, bus_id));
    NCCLCHECK(ncclTopoFillGpu(xml, bus_id, &node));
    if (node == nullptr) {
      WARN("the topology XML has no GPU at %s", bus_id);
      return ncclInvalidArgument;
    }
    NCCLCHECK(xmlSetAttrInt(node, "keep", 1));
    NCCLCHECK(xmlSetAttrInt(node, "rank", rank));
    int gdr = -1;
    NCCLCHECK(xmlGetAttrIndex(node, "gdr", &gdr));
    if (gdr == -1) NCCLCHECK(xmlSetAttrInt(node, "gdr", peer.gdrSupport));
  }
  return ncclSuccess;
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
