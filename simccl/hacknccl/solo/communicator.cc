#include "simccl/hacknccl/solo/communicator.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <utility>

#include "comm.h"
#include "nccl.h"
#include "simccl/hacknccl/communicator/describe.h"
#include "simccl/hacknccl/launch/make_calls.h"
#include "simccl/hacknccl/launch/pat.h"
#include "simccl/hacknccl/log/log.h"
#include "simccl/hacknccl/machine/fake_memory.h"
#include "simccl/hacknccl/solo/links.h"

namespace drydock {
namespace {

class Scope {
 public:
  explicit Scope(Session* session) { SetCurrent(session); }
  ~Scope() { SetCurrent(nullptr); }
};

void Fill(const hacknccl_config& from, ncclConfig_t* to) {
  static_assert(HACKNCCL_UNSET == NCCL_CONFIG_UNDEF_INT);
  to->minCTAs = from.min_ctas;
  to->maxCTAs = from.max_ctas;
  to->nvlsCTAs = from.nvls_ctas;
  to->cgaClusterSize = from.cga_cluster_size;
  to->CTAPolicy = from.cta_policy;
  to->collnetEnable = from.collnet_enable;
  to->splitShare = from.split_share;
  to->shrinkShare = from.shrink_share;
  to->nChannelsPerNetPeer = from.channels_per_net_peer;
}

// enqueue.cc, addP2pToPlan: NCCL counts the smallest parts of a message in 32 bits and divides by
// the count, which may overflow to 0.
std::string CheckMessages(const std::vector<hacknccl_call>& calls, const ncclComm& comm) {
  const int64_t least_part = comm.p2pChunkSize / (comm.nNodes > 1 ? 2 : 8);
  const auto most = static_cast<uint64_t>(least_part) * INT_MAX;
  for (const hacknccl_call& call : calls) {
    if (call.function < HACKNCCL_SEND || call.function > HACKNCCL_GATHER) continue;
    const auto size =
        static_cast<uint64_t>(ncclTypeSize(static_cast<ncclDataType_t>(call.datatype)));
    if (call.count <= most / size) continue;
    return std::to_string(call.count * size) +
           " B are more than NCCL sends in one message: " + std::to_string(INT_MAX) + " parts of " +
           std::to_string(least_part) + " B";
  }
  return "";
}

std::string Failure(const char* what, ncclResult_t result) {
  std::string warnings = TakeWarnings();
  // NCCL blames CUDA for it.
  if (const size_t bytes = TakeExhaustion(); bytes > 0) {
    return std::string(what) + ": this machine has too little memory: " + std::to_string(bytes) +
           " B could not be reserved; free some, or raise the limit (ulimit -v)";
  }
  if (warnings.empty()) warnings = ncclGetErrorString(result);
  return std::string(what) + ": " + warnings;
}

}  // namespace

Communicator::Communicator(const std::vector<HostClass>* classes,
                           const std::vector<hacknccl_place>& places, Origin origin)
    : classes_(classes),
      origin_(std::move(origin)),
      layout_(MakeLayout(*classes, places)),
      links_(layout_) {}

Communicator::~Communicator() {
  for (auto& [rank, solo] : solos_) {
    const Scope scope(&solo->session);
    ncclCommDestroy(solo->comm);
  }
  TakeWarnings();
}

// Terminates: each correction divides a host or forbids multi-node NVLink.
std::string Communicator::Start() {
  for (;;) {
    layout_corrected_ = false;
    if (std::string error = CheckNics(*classes_, layout_); !error.empty()) return error;
    const std::string error = Search();
    if (!layout_corrected_) return error;
    layout_ = MakeLayout(*classes_, std::vector(layout_.places), findings_);
  }
}

std::string Communicator::Search() {
  kind_graphs_.clear();
  kind_graphs_.resize(layout_.kinds.size());
  // Hosts exchange their graphs, so all kinds are searched before the first rank is built. Rank 0
  // searches its own kind, unless that would need a trial split of a parent.
  for (size_t k = origin_.parent == nullptr ? 1 : 0; k < layout_.kinds.size(); ++k) {
    if (std::string error = Survey(static_cast<int>(k)); !error.empty()) return error;
  }
  Solo* first = nullptr;
  return SoloAt(0, &first);
}

std::string Communicator::Survey(int kind) {
  const int model = layout_.kinds[static_cast<size_t>(kind)].model;
  Solo solo;
  std::string error = Init(layout_.hosts[static_cast<size_t>(model)].ranks.front(), true, &solo);
  if (kind_graphs_[static_cast<size_t>(kind)] != nullptr) return "";
  return error.empty() ? "NCCL searched no graphs on a host" : error;
}

ncclResult_t Communicator::Make(int rank, ncclComm* parent, Solo* solo) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (origin_.config.has_value()) Fill(*origin_.config, &config);
  if (parent == nullptr) {
    ncclUniqueId id;
    const ncclResult_t result = ncclGetUniqueId(&id);
    if (result != ncclSuccess) return result;
    return ncclCommInitRankConfig(&solo->comm, layout_.ranks(), id, rank, &config);
  }
  ncclConfig_t* const given = origin_.config.has_value() ? &config : nullptr;
  if (!origin_.excluded.empty()) {
    std::vector<int> excluded = origin_.excluded;  // NCCL sorts it
    return ncclCommShrink(parent, excluded.data(), static_cast<int>(excluded.size()), &solo->comm,
                          given, NCCL_SHRINK_DEFAULT);
  }
  solo->session.split = {parent->bootstrap, &origin_.split};
  const SplitRequest& own = origin_.split[static_cast<size_t>(parent->rank)];
  const ncclResult_t result = ncclCommSplit(parent, own.color, own.key, &solo->comm, given);
  solo->session.split = {};
  return result;
}

std::string Communicator::Init(int rank, bool survey, Solo* solo) {
  Solo* parent = nullptr;
  if (origin_.parent != nullptr && !survey) {
    const int parent_rank = origin_.parent_ranks[static_cast<size_t>(rank)];
    std::string error = origin_.parent->SoloAt(parent_rank, &parent);
    if (!error.empty()) return error;
  }
  solo->session.rank = {classes_, &layout_, rank};
  solo->session.graphs.kinds = &kind_graphs_;
  solo->session.graphs.survey = survey;
  const Scope scope(&solo->session);
  TakeWarnings();
  TakeComplaints();
  cudaSetDevice(layout_.places[static_cast<size_t>(rank)].gpu);
  const ncclResult_t result = Make(rank, parent == nullptr ? nullptr : parent->comm, solo);
  const std::string complaints = TakeComplaints();
  if (result == ncclSuccess && complaints.empty()) return "";
  layout_corrected_ = findings_.Add(layout_, rank, solo->session.graphs.correction);
  std::string error = "NCCL replaces a setting: " + complaints;
  if (layout_corrected_) {
    error = "inside libhacknccl, NCCL sees other hosts for rank " + std::to_string(rank);
  } else if (result != ncclSuccess) {
    error = Failure("NCCL could not create the communicator", result);
  }
  if (solo->comm != nullptr) ncclCommAbort(solo->comm);
  solo->comm = nullptr;
  return error;
}

std::string Communicator::SoloAt(int rank, Solo** out) {
  const auto found = solos_.find(rank);
  if (found != solos_.end()) {
    *out = found->second.get();
    return "";
  }
  auto solo = std::make_unique<Solo>();
  if (std::string error = Init(rank, false, solo.get()); !error.empty()) return error;
  if (rank != 0) {
    if (std::string error = Disagreement(*solo); !error.empty()) {
      const Scope scope(&solo->session);
      ncclCommDestroy(solo->comm);
      return error;
    }
    solo->session.graphs.connected = {};  // rank 0 keeps the trees of all ranks
  }
  *out = solo.get();
  solos_[rank] = std::move(solo);
  return "";
}

std::string Communicator::Disagreement(const Solo& solo) const {
  const ncclComm& own = *solo.comm;
  const ncclComm& first = *solos_.begin()->second->comm;
  const auto rank = static_cast<size_t>(own.rank);
  const std::string whose = "inside libhacknccl, rank " + std::to_string(rank) + " and rank 0 ";
  if (own.nChannels != first.nChannels || own.nvlsChannels != first.nvlsChannels ||
      own.p2pnChannels != first.p2pnChannels) {
    return whose + "build different numbers of channels";
  }
  for (int c = 0; c < own.nChannels; ++c) {
    const auto channel = static_cast<size_t>(c);
    const std::vector<int> ring = Ring(c);
    if (ring[static_cast<size_t>(own.channels[c].ring.index)] != own.rank) {
      return whose + "see different rings";
    }
    const hacknccl_tree& recorded_tree = trees()[channel][rank];
    const ncclTree& tree = own.channels[c].tree;
    if (tree.up != recorded_tree.up ||
        !std::equal(std::begin(tree.down), std::end(tree.down), recorded_tree.down)) {
      return whose + "see different trees";
    }
  }
  for (int c = 0; c < own.nvlsChannels; ++c) {
    const hacknccl_nvls& recorded_nvls = nvls()[static_cast<size_t>(c)][rank];
    const ncclNvls& place = own.channels[c].nvls;
    if (place.headRank != recorded_nvls.head || place.treeUp != recorded_nvls.tree_up ||
        place.treeDown[1] != recorded_nvls.tree_down[0]) {
      return whose + "see different NVLS trees";
    }
  }
  return "";
}

std::string Communicator::ModelOf(int rank, Solo** solo) {
  const int model = layout_.kind_of(rank).model;
  return SoloAt(layout_.hosts[static_cast<size_t>(model)].ranks.front(), solo);
}

std::string Communicator::Launch(int rank, const std::vector<hacknccl_call>& calls,
                                 const NcclPlan** plan) {
  if (std::string error = CheckCalls(calls, layout_.ranks()); !error.empty()) return error;
  Solo* solo = nullptr;
  if (std::string error = SoloAt(rank, &solo); !error.empty()) return error;
  if (std::string error = CheckMessages(calls, *solo->comm); !error.empty()) return error;
  for (bool settled = false; !settled;) {
    solo->session.launch.plan = {};
    if (std::string error = Make(calls, solo); !error.empty()) return error;
    settled = true;
    if (!HaveRegistered(calls)) break;
    if (std::string error = AskOtherRanks(solo, &settled); !error.empty()) return error;
  }
  *plan = &solo->session.launch.plan;
  return "";
}

std::string Communicator::Make(const std::vector<hacknccl_call>& calls, Solo* solo) {
  const Scope scope(&solo->session);
  TakeWarnings();
  const ncclResult_t result = MakeCalls(calls, solo->comm);
  return result == ncclSuccess ? "" : Failure("NCCL refused the call", result);
}

// Replaces the exchange at the end of ncclTransportRingConnect.
std::string Communicator::AskOtherRanks(Solo* solo, bool* as_assumed) {
  ncclComm* const comm = solo->comm;
  bool gdr = comm->useGdr, pxn = comm->useNetPXN;
  for (int channel = 0; channel < comm->nChannels; ++channel) {
    const std::vector<int> ring = Ring(channel);
    for (size_t i = 0; i < ring.size(); ++i) {
      const int from = ring[i], to = ring[(i + 1) % ring.size()];
      if (layout_.host_of_rank[static_cast<size_t>(from)] ==
          layout_.host_of_rank[static_cast<size_t>(to)]) {
        continue;
      }
      hacknccl_link link = {};
      std::string error = Link(HACKNCCL_GRAPH_RING, channel, from, to, &link);
      if (!error.empty()) return error;
      gdr &= link.send_gdr != 0 && link.recv_gdr != 0;
      pxn |= link.proxy != -1;
    }
  }
  *as_assumed &= gdr == comm->useGdr && pxn == comm->useNetPXN;
  comm->useGdr = gdr;
  comm->useNetPXN = pxn;
  return AskAtUnknownEnds(solo, as_assumed);
}

std::string Communicator::AskAtUnknownEnds(Solo* solo, bool* as_assumed) {
  for (const UnknownEnd& end : std::exchange(solo->session.far_ends.unknown, {})) {
    const int own = solo->session.rank.rank;
    hacknccl_link link = {};
    std::string error =
        Link(end.graph, end.channel, end.send ? own : end.peer, end.send ? end.peer : own, &link);
    if (!error.empty()) return error;
    if ((end.send ? link.recv_gdr : link.send_gdr) != 0) continue;
    ncclChannelPeer* const peer = solo->comm->channels[end.channel].peers[end.peer];
    ncclConnector& connector = (end.send ? peer->send : peer->recv)[end.index];
    *as_assumed &= (connector.conn.flags & NCCL_DIRECT_NIC) == 0;
    connector.conn.flags &= ~NCCL_DIRECT_NIC;
  }
  return "";
}

std::string Communicator::Link(int graph, int channel, int from, int to, hacknccl_link* link) {
  if (KnowsLink(graph, channel, from, to, link)) return "";
  Solo* sender = nullptr;
  Solo* receiver = nullptr;
  if (std::string error = ModelOf(from, &sender); !error.empty()) return error;
  if (std::string error = ModelOf(to, &receiver); !error.empty()) return error;
  const Scope scope(&sender->session);
  TakeWarnings();
  const ncclResult_t result =
      ResolveLink(layout_, sender->comm, receiver->comm, graph, channel, from, to, link);
  if (result != ncclSuccess) return Failure("NCCL found no path between two ranks", result);
  links_.Add(graph, channel, from, to, *link);
  return "";
}

std::string Communicator::CollNet(int channel, std::vector<hacknccl_collnet>* places) {
  *places = connected().collnet[static_cast<size_t>(channel)];
  for (int rank = 0; rank < layout_.ranks(); ++rank) {
    Solo* model = nullptr;
    if (std::string error = ModelOf(rank, &model); !error.empty()) return error;
    const auto local = static_cast<size_t>(layout_.local_of_rank[static_cast<size_t>(rank)]);
    const CollNetNic joined = model->session.collnet.Of(local);
    hacknccl_collnet& place = (*places)[static_cast<size_t>(rank)];
    place.nic = joined.nic;
    place.rail = joined.rail;
    place.gdr = joined.gdr;
  }
  return "";
}

std::string Communicator::Pat(const hacknccl_collective& work, int rank, int channel) {
  pat_steps_.clear();
  const bool known =
      work.function == HACKNCCL_ALL_GATHER || work.function == HACKNCCL_REDUCE_SCATTER;
  if (!known || work.algorithm != HACKNCCL_PAT || channel < work.channel_lo ||
      channel > work.channel_hi) {
    return "this collective has no PAT steps on this channel";
  }
  pat_steps_ = PatSteps(work, channel, rank, layout_.ranks());
  if (pat_steps_.size() <= kMaxPatSteps) return "";
  pat_steps_ = {};
  return "NCCL takes more than " + std::to_string(kMaxPatSteps) +
         " steps for this collective with PAT";
}

hacknccl_shape Communicator::shape() const { return Described(*solos_.begin()->second->comm); }

std::vector<int> Communicator::Ring(int channel) const {
  const ncclRing& ring = solos_.begin()->second->comm->channels[channel].ring;
  std::vector<int> order;
  // userRanks starts at the rank of the first solo, which is 0.
  for (int i = 0; i < layout_.ranks(); ++i) order.push_back(ring.userRanks[i]);
  return order;
}

}  // namespace drydock
