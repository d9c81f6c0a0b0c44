// The exported table of oracle.h.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "comm.h"
#include "simccl/hacknccl/cluster/layout.h"
#include "simccl/hacknccl/cluster/world.h"
#include "simccl/hacknccl/communicator/describe.h"
#include "simccl/hacknccl/launch/make_calls.h"
#include "simccl/hacknccl/log/log.h"
#include "simccl/hacknccl/oracle/meeting.h"
#include "simccl/hacknccl/oracle/oracle.h"
#include "simccl/hacknccl/oracle/oracle_session.h"
#include "simccl/hacknccl/session/session.h"

struct hacknccl_oracle_rank {
  std::vector<drydock::HostClass> classes;
  drydock::Layout layout;
  drydock::Session session;
  std::unique_ptr<drydock::Meeting> meeting;
  ncclComm* comm = nullptr;
  std::vector<hacknccl_oracle_connection> connections;
};

namespace drydock {
namespace {

Meeting* current_meeting = nullptr;
std::string error;

const char* LastError() { return error.c_str(); }

// Stores the reason if NCCL refused, and releases the ranks that wait for this one.
int32_t Outcome(ncclResult_t result) {
  error = TakeWarnings();
  if (result == ncclSuccess) return 0;
  if (error.empty()) error = ncclGetErrorString(result);
  current_meeting->Fail();
  return 1;
}

ncclResult_t Init(hacknccl_oracle_rank* self) {
  const VirtualRank& rank = self->session.rank;
  cudaSetDevice(rank.place().gpu % rank.host_class().gpus_per_tray());
  ncclUniqueId id;
  NCCLCHECK(ncclGetUniqueId(&id));
  return ncclCommInitRank(&self->comm, self->layout.ranks(), id, rank.rank);
}

hacknccl_oracle_rank* Join(void* meeting, const hacknccl_host_class* classes, size_t class_count,
                           const hacknccl_setting* settings, size_t setting_count,
                           const hacknccl_place* ranks, size_t rank_count, int32_t rank) {
  auto self = std::make_unique<hacknccl_oracle_rank>();
  self->meeting = std::make_unique<Meeting>(meeting, static_cast<int>(rank_count), rank);
  const std::vector<hacknccl_place> places(ranks, ranks + rank_count);
  error = OpenWorld(classes, class_count, settings, setting_count, &self->classes);
  if (error.empty()) error = CheckPlaces(self->classes, places);
  if (!error.empty()) {
    self->meeting->Fail();
    return nullptr;
  }
  self->layout = MakeLayout(self->classes, places);
  self->session.rank = {&self->classes, &self->layout, rank};
  SetCurrent(&self->session);
  current_meeting = self->meeting.get();
  WatchConnections();
  if (Outcome(Init(self.get())) != 0) return nullptr;
  return self.release();
}

// From now on the fake machine answers for the rank of the part.
void BecomePart(const std::vector<int>& members, hacknccl_oracle_rank* self) {
  std::vector<hacknccl_place> places;
  for (size_t r = 0; r < members.size(); ++r) {
    places.push_back(self->layout.places[static_cast<size_t>(members[r])]);
    if (members[r] == self->comm->rank) self->session.rank.rank = static_cast<int>(r);
  }
  self->layout = MakeLayout(self->classes, places);
  self->session.collnet.nics.clear();
  ForgetConnections();
}

int32_t Split(hacknccl_oracle_rank* self, const int32_t* colors, const int32_t* keys) {
  std::vector<SplitRequest> requests;
  for (int r = 0; r < self->comm->nRanks; ++r) requests.push_back({keys[r], colors[r]});
  const SplitRequest& own = requests[static_cast<size_t>(self->comm->rank)];
  BecomePart(RanksOfColor(requests, own.color), self);
  ncclComm* const parent = self->comm;
  return Outcome(ncclCommSplit(parent, own.color, own.key, &self->comm, nullptr));
}

int32_t Shrink(hacknccl_oracle_rank* self, const int32_t* excluded, size_t count) {
  std::vector<int> left_out(excluded, excluded + count), members;
  for (int r = 0; r < self->comm->nRanks; ++r) {
    if (std::find(left_out.begin(), left_out.end(), r) == left_out.end()) members.push_back(r);
  }
  BecomePart(members, self);
  ncclComm* const parent = self->comm;
  return Outcome(ncclCommShrink(parent, left_out.data(), static_cast<int>(count), &self->comm,
                                nullptr, NCCL_SHRINK_DEFAULT));
}

int32_t Shape(hacknccl_oracle_rank* self, hacknccl_shape* out) {
  *out = Described(*self->comm);
  return 0;
}

bool ChannelIsIn(int32_t channel, int32_t channels) {
  error = channel >= 0 && channel < channels ? "" : "there is no such channel";
  return error.empty();
}

int32_t Ring(hacknccl_oracle_rank* self, int32_t channel, int32_t* out) {
  if (!ChannelIsIn(channel, self->comm->nChannels)) return 1;
  const ncclRing& ring = self->comm->channels[channel].ring;
  std::copy(ring.userRanks, ring.userRanks + self->comm->nRanks, out);
  return 0;
}

int32_t Tree(hacknccl_oracle_rank* self, int32_t channel, hacknccl_tree* out) {
  if (!ChannelIsIn(channel, self->comm->nChannels)) return 1;
  *out = Described(self->comm->channels[channel].tree);
  return 0;
}

int32_t Nvls(hacknccl_oracle_rank* self, int32_t channel, hacknccl_nvls* out) {
  if (!ChannelIsIn(channel, Described(*self->comm).nvls_channels)) return 1;
  *out = Described(self->comm->channels[channel].nvls);
  return 0;
}

int32_t CollNet(hacknccl_oracle_rank* self, int32_t channel, hacknccl_collnet* out) {
  const ncclComm& comm = *self->comm;
  if (!ChannelIsIn(channel, comm.config.collnetEnable ? comm.nChannels : 0)) return 1;
  *out = DescribedCollNet(comm, comm.channels[channel]);
  out->head = comm.channels[channel].collnetDirect.headRank;
  out->shift = comm.channels[channel].collnetDirect.shift;
  const auto local =
      static_cast<size_t>(self->layout.local_of_rank[static_cast<size_t>(comm.rank)]);
  const CollNetNic joined = self->session.collnet.Of(local);
  out->nic = joined.nic;
  out->rail = joined.rail;
  out->gdr = joined.gdr;
  return 0;
}

int32_t Launch(hacknccl_oracle_rank* self, const hacknccl_call* calls, size_t count,
               hacknccl_plan* out) {
  self->session.launch.plan = {};
  if (Outcome(MakeCalls({calls, calls + count}, self->comm)) != 0) return 1;
  *out = ViewOf(self->session.launch.plan);
  return 0;
}

size_t Connections(hacknccl_oracle_rank* self, const hacknccl_oracle_connection** out) {
  self->connections.clear();
  for (const LoggedConnection& made : LoggedConnections()) {
    self->connections.push_back({made.graph, made.line.c_str()});
  }
  *out = self->connections.data();
  return self->connections.size();
}

size_t MeetingBytes(int32_t ranks) { return Meeting::Bytes(ranks); }

const hacknccl_oracle kOracle = {LastError, MeetingBytes, Join, Split,   Shrink, Shape,
                                 Ring,      Tree,         Nvls, CollNet, Launch, Connections};

}  // namespace

Meeting& CurrentMeeting() { return *current_meeting; }

}  // namespace drydock

extern "C" __attribute__((visibility("default"))) const hacknccl_oracle* hacknccl_get_oracle() {
  return &drydock::kOracle;
}
