// Records the calls of a program that NCCL has found valid.
//
// Holds a call until its group ends, as NCCL holds its tasks: a group that fails issues no call. A
// group may have several communicators, so calls are sorted by the order in which they were made.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "comm.h"
#include "group.h"
#include "info.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/recorder/recorder.h"

namespace drydock {
namespace {

struct HeldCall {
  uint64_t order = 0;
  RecordEntry entry;
};

std::mutex mutex;
std::map<ncclComm*, std::vector<HeldCall>> held;
std::atomic<uint64_t> orders{0}, groups{0};

RecordFunction FunctionOf(ncclFunc_t function) {
  switch (function) {
    case ncclFuncAllGather:
      return RecordFunction::kAllGather;
    case ncclFuncReduceScatter:
      return RecordFunction::kReduceScatter;
    case ncclFuncBroadcast:
      return RecordFunction::kBroadcast;
    case ncclFuncReduce:
      return RecordFunction::kReduce;
    case ncclFuncAlltoAll:
      return RecordFunction::kAllToAll;
    case ncclFuncGather:
      return RecordFunction::kGather;
    case ncclFuncScatter:
      return RecordFunction::kScatter;
    case ncclFuncSend:
      return RecordFunction::kSend;
    case ncclFuncRecv:
      return RecordFunction::kRecv;
    default:
      return RecordFunction::kAllReduce;  // no other function reaches this hook
  }
}

std::vector<HeldCall> Take(ncclComm* comm) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = held.find(comm);
  if (found == held.end()) return {};
  std::vector<HeldCall> calls = std::move(found->second);
  held.erase(found);
  return calls;
}

}  // namespace

ncclResult_t RecordCall(const ncclInfo* info) {
  ncclComm* const comm = info->comm;
  ncclGroupCommJoin(comm, ncclGroupTaskTypeCollective);
  HeldCall call;
  call.order = ++orders;
  RecordEntry& entry = call.entry;
  entry.function = FunctionOf(info->coll);
  entry.type = static_cast<uint8_t>(info->datatype);
  entry.op = info->op < ncclNumOps ? static_cast<uint8_t>(info->op) : kRecordPreMulSum;
  entry.device = static_cast<int16_t>(comm->cudaDev);
  entry.rank = comm->rank;
  entry.peer = info->root;
  entry.communicator = SerialOf(*comm);
  entry.count = info->count;
  entry.buffers = BuffersOf(*info);
  SetStream(reinterpret_cast<uintptr_t>(info->stream), &entry);
  Recorder::Get().Move(entry, *info);
  const std::lock_guard<std::mutex> lock(mutex);
  held[comm].push_back(call);
  return ncclSuccess;
}

ncclResult_t CommitCalls(ncclComm** head, bool simulated) {
  std::vector<HeldCall> calls;
  while (*head != nullptr) {
    ncclComm* const comm = *head;
    *head = comm->groupNext[ncclGroupTaskTypeCollective];
    std::vector<HeldCall> own = Take(comm);
    calls.insert(calls.end(), own.begin(), own.end());
    (void)ncclGroupCommLeave(comm, ncclGroupTaskTypeCollective);
    if (!comm->config.blocking) (void)ncclCommSetAsyncError(comm, ncclSuccess);
  }
  if (simulated) return ncclSuccess;
  std::sort(calls.begin(), calls.end(),
            [](const HeldCall& a, const HeldCall& b) { return a.order < b.order; });
  std::vector<RecordEntry> entries;
  const uint64_t group = ++groups;
  for (HeldCall& call : calls) {
    call.entry.group = group;
    entries.push_back(call.entry);
  }
  Recorder::Get().Log(entries.data(), entries.size());
  return ncclSuccess;
}

void DropCalls(ncclComm* comm) { Take(comm); }

}  // namespace drydock
