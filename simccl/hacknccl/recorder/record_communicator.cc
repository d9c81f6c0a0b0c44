#include "simccl/hacknccl/recorder/record_communicator.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bootstrap.h"
#include "checks.h"
#include "comm.h"
#include "core/nccl/capture.h"
#include "cudawrap.h"
#include "simccl/hacknccl/communicator/peers.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/recorder/recorder.h"

namespace drydock {
namespace {

// The meeting of one rank. Only the rank's own thread uses it.
struct Meeting final : Peers {
  ncclResult_t Split(uint64_t hash, ncclComm* comm, ncclComm* parent, const int* members) override;
  ncclResult_t AllGather(void* data, int bytes) override;

  int rank = 0, ranks = 0;
  const char* purpose = "";               // the function that made the communicator
  uint64_t key = 0, round = 0;            // of the first exchange
  uint64_t serial = 0;                    // known after the first exchange
  uint64_t gathered = 0;                  // later exchanges
  std::map<uint64_t, uint64_t> children;  // number of times that each part was made
};

ncclResult_t Exchange(const Meeting& meeting, const char* purpose, uint64_t key, uint64_t round,
                      const void* own, size_t bytes, std::vector<char>* all, uint64_t* serial) {
  RecordRequest request;
  request.ask = RecordAsk::kExchange;
  request.process = Recorder::Get().process();
  request.key = key;
  request.round = round;
  request.member = meeting.rank;
  request.members = meeting.ranks;
  request.bytes = static_cast<uint32_t>(bytes);
  snprintf(request.purpose, sizeof request.purpose, "%s", purpose);
  const std::string error = Recorder::Get().Exchange(request, own, all, serial);
  if (error.empty()) return ncclSuccess;
  WARN("%s: %s", purpose, error.c_str());
  return ncclRemoteError;
}

Meeting* MeetingOf(const ncclComm& comm) {
  return static_cast<Meeting*>(static_cast<Peers*>(comm.bootstrap));
}

void SetPeers(Meeting* meeting, uint64_t magic, ncclComm* comm) {
  meeting->rank = comm->rank;
  meeting->ranks = comm->nRanks;
  comm->bootstrap = static_cast<Peers*>(meeting);
  comm->magic = magic;
}

ncclResult_t Meeting::Split(uint64_t hash, ncclComm* comm, ncclComm* parent, const int* members) {
  uint64_t accumulator[2] = {1, 1};
  eatHash(accumulator, &serial);
  eatHash(accumulator, &hash);
  for (int i = 0; i < comm->nRanks; ++i) eatHash(accumulator, &members[i]);
  auto* part = new Meeting;
  part->purpose = "a new part of a communicator";
  part->key = digestHash(accumulator);
  part->round = children[part->key]++;
  SetPeers(part, parent->magic, comm);
  return ncclSuccess;
}

ncclResult_t Meeting::AllGather(void* data, int bytes) {
  const auto size = static_cast<size_t>(bytes);
  std::vector<char> all;
  // The only exchange within a communicator here: the colors and keys of a split.
  NCCLCHECK(Exchange(*this, kSplitPurpose, serial, ++gathered,
                     static_cast<char*>(data) + static_cast<size_t>(rank) * size, size, &all,
                     nullptr));
  memcpy(data, all.data(), all.size());
  return ncclSuccess;
}

ncclResult_t CheckHomes(const ncclComm& comm, const std::vector<char>& all) {
  std::vector<RecordHome> homes(static_cast<size_t>(comm.nRanks));
  memcpy(homes.data(), all.data(), all.size());
  const RecordHome& own = homes[static_cast<size_t>(comm.rank)];
  for (int i = 0; i < comm.nRanks; ++i) {
    if (i == comm.rank || !(homes[static_cast<size_t>(i)] == own)) continue;
    // The text of initTransportsRank.
    WARN("Duplicate GPU detected : rank %d and rank %d both on CUDA device %lx", comm.rank, i,
         comm.busId);
    return ncclInvalidUsage;
  }
  return ncclSuccess;
}

// Fills in what commAlloc leaves open, for a communicator that only records calls. Each rank is its
// own clique: NCCL then does for each rank alone what it does for all ranks of a process together.
void Complete(ncclComm* comm) {
  comm->minCompCap = comm->maxCompCap = comm->compCap;
  comm->intraComm0 = comm;
  comm->intraRanks = 1;
  comm->nNodes = 1;
  comm->localRanks = 1;
}

}  // namespace

namespace recorded {

ncclResult_t Start() {
  if (!Recorder::Get().connected()) {
    WARN("%s", Recorder::Get().reason().c_str());
    return ncclSystemError;
  }
  ncclCuMemHandleType = CU_MEM_HANDLE_TYPE_NONE;
  return ncclSuccess;
}

uint64_t UniqueId() {
  static std::atomic<uint64_t> given{0};
  // Every capture of a program gives the same numbers.
  const Recorder& recorder = Recorder::Get();
  const auto process =
      recorder.captures() ? uint64_t{recorder.process()} : static_cast<uint64_t>(::getpid());
  return uint64_t{1} << 63 | process << 32 | ++given;
}

ncclResult_t Init(uint64_t magic, ncclComm* comm) {
  auto* meeting = new Meeting;
  meeting->purpose = "ncclCommInitRank";
  meeting->key = magic;
  SetPeers(meeting, magic, comm);
  return ncclSuccess;
}

}  // namespace recorded

ncclResult_t JoinRecorded(ncclComm* comm) {
  Meeting* meeting = MeetingOf(*comm);
  const RecordHome home = {Recorder::Get().host().host, comm->cudaDev};
  std::vector<char> all;
  NCCLCHECK(Exchange(*meeting, meeting->purpose, meeting->key, meeting->round, &home, sizeof home,
                     &all, &meeting->serial));
  NCCLCHECK(CheckHomes(*comm, all));
  Complete(comm);
  RecordEntry entry;
  entry.kind = RecordKind::kCommunicator;
  entry.device = static_cast<int16_t>(comm->cudaDev);
  entry.communicator = meeting->serial;
  entry.event = meeting->key;
  entry.rank = comm->rank;
  entry.count = static_cast<uint64_t>(comm->nRanks);
  Recorder::Get().Log(&entry, 1);
  return ncclSuccess;
}

uint64_t SerialOf(const ncclComm& comm) { return MeetingOf(comm)->serial; }

}  // namespace drydock
