#include "simccl/hacknccl/launch/make_calls.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "collectives.h"
#include "comm.h"
#include "simccl/hacknccl/calls/call_buffers.h"
#include "simccl/hacknccl/calls/nccl_call.h"
#include "simccl/hacknccl/launch/registration.h"
#include "simccl/hacknccl/session/launch_capture.h"

namespace drydock {
namespace {

static_assert(HACKNCCL_GATHER == static_cast<int>(ncclFuncGather));
static_assert(HACKNCCL_PREMUL_SUM == static_cast<int>(ncclNumOps));

// NCCL multiplies sizes without checking for overflow. All-reduce counts its traffic twice, LL four
// times.
constexpr uint64_t kMaxBytes = uint64_t{1} << 48;

ncclResult_t MakeGroup(const std::vector<hacknccl_call>& calls, const CallBuffers& buffers,
                       ncclComm* comm) {
  ncclResult_t result = ncclGroupStart();
  for (size_t i = 0; i < calls.size() && result == ncclSuccess; ++i) {
    const CallBuffers::Pair& at = buffers.of(i);
    result = MakeNcclCall(calls[i], at.send.at, at.receive.at, comm, nullptr);
  }
  const ncclResult_t end = ncclGroupEnd();
  return result != ncclSuccess ? result : end;
}

std::string CheckCall(const hacknccl_call& call, int ranks) {
  const bool known =
      (call.function >= HACKNCCL_BROADCAST && call.function <= HACKNCCL_ALL_REDUCE) ||
      (call.function >= HACKNCCL_SEND && call.function <= HACKNCCL_GATHER);
  if (!known) return "there is no function " + std::to_string(call.function);
  if (call.datatype < 0 || call.datatype >= ncclNumTypes) {
    return "there is no data type " + std::to_string(call.datatype);
  }
  if (TakesReduction(call.function) && (call.op < 0 || call.op > HACKNCCL_PREMUL_SUM)) {
    return "there is no reduction " + std::to_string(call.op);
  }
  if (call.in_place && call.function == HACKNCCL_ALL_TO_ALL) {
    return "NCCL has no all-to-all in place";
  }
  if (call.buffers < HACKNCCL_BUFFERS_PLAIN || call.buffers > HACKNCCL_BUFFERS_SYMMETRIC) {
    return "there is no kind of buffers " + std::to_string(call.buffers);
  }
  const auto size = static_cast<uint64_t>(TypeSize(call));
  const uint64_t parts = IsPerRank(call.function) ? static_cast<uint64_t>(ranks) : 1;
  if (call.count > kMaxBytes / size / parts) {
    return std::to_string(call.count) + " elements of " + std::to_string(size) + " B over " +
           std::to_string(ranks) + " ranks are more than the 2^48 B a GPU can address";
  }
  return "";
}

}  // namespace

std::string CheckCalls(const std::vector<hacknccl_call>& calls, int ranks) {
  uint64_t together = 0;
  for (const hacknccl_call& call : calls) {
    if (std::string error = CheckCall(call, ranks); !error.empty()) return error;
    together += LargerBuffer(call, ranks);
    if (together > kMaxBytes) {
      return "the calls of a group together have more than the 2^48 B a GPU can address";
    }
  }
  return "";
}

bool HaveRegistered(const std::vector<hacknccl_call>& calls) {
  return std::any_of(calls.begin(), calls.end(), [](const hacknccl_call& call) {
    return call.buffers != HACKNCCL_BUFFERS_PLAIN;
  });
}

ncclResult_t MakeCalls(const std::vector<hacknccl_call>& calls, ncclComm* comm) {
  const CallBuffers buffers(calls, comm->rank, comm->nRanks);
  CurrentLaunch().buffers = &buffers;
  std::optional<Registration> registration;
  ncclResult_t result = ncclSuccess;
  for (size_t i = 0; i < calls.size() && result == ncclSuccess; ++i) {
    if (calls[i].buffers == HACKNCCL_BUFFERS_PLAIN) continue;
    if (!registration.has_value()) registration.emplace(comm);
    result = registration->Add(calls[i], buffers.of(i));
  }
  if (result == ncclSuccess) result = MakeGroup(calls, buffers, comm);
  CurrentLaunch().buffers = nullptr;
  return result;
}

}  // namespace drydock
