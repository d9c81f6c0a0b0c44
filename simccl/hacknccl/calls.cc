#include "calls.h"

#include <cstdint>
#include <limits>

#include "collectives.h"
#include "comm.h"

namespace drydock {
namespace {

static_assert(HACKNCCL_GATHER == static_cast<int>(ncclFuncGather));
static_assert(HACKNCCL_PREMUL_SUM == static_cast<int>(ncclNumOps));

// Where the buffers of a call lie. Nothing is ever read there: NCCL compares addresses and passes
// them on to kernels that never run.
struct Buffers {
  char* send;
  char* recv;
};

constexpr uintptr_t kSendSpace = uintptr_t{1} << 44, kReceiveSpace = uintptr_t{1} << 45;
constexpr uintptr_t kApart = uintptr_t{1} << 21;

bool IsPerRank(int function) {
  return function == HACKNCCL_ALL_GATHER || function == HACKNCCL_REDUCE_SCATTER ||
         function == HACKNCCL_ALL_TO_ALL || function == HACKNCCL_GATHER ||
         function == HACKNCCL_SCATTER;
}

bool TakesOp(int function) {
  return function == HACKNCCL_ALL_REDUCE || function == HACKNCCL_REDUCE ||
         function == HACKNCCL_REDUCE_SCATTER;
}

// In place, the smaller buffer lies where the rank's own part of the larger one is (nccl.h).
Buffers PlaceBuffers(const hacknccl_call& call, size_t order, int rank) {
  Buffers buffers = {reinterpret_cast<char*>(kSendSpace + order * kApart),
                     reinterpret_cast<char*>(kReceiveSpace + order * kApart)};
  if (!call.in_place) return buffers;
  const size_t own = static_cast<size_t>(rank) * call.count *
                     static_cast<size_t>(ncclTypeSize(static_cast<ncclDataType_t>(call.datatype)));
  switch (call.function) {
    case HACKNCCL_ALL_GATHER:
    case HACKNCCL_GATHER:
      return {buffers.recv + own, buffers.recv};
    case HACKNCCL_REDUCE_SCATTER:
    case HACKNCCL_SCATTER:
      return {buffers.send, buffers.send + own};
    default:
      return {buffers.send, buffers.send};
  }
}

ncclResult_t MakeCall(const hacknccl_call& call, ncclRedOp_t op, const Buffers& at,
                      ncclComm* comm) {
  const auto type = static_cast<ncclDataType_t>(call.datatype);
  switch (call.function) {
    case HACKNCCL_ALL_REDUCE:
      return ncclAllReduce(at.send, at.recv, call.count, type, op, comm, nullptr);
    case HACKNCCL_ALL_GATHER:
      return ncclAllGather(at.send, at.recv, call.count, type, comm, nullptr);
    case HACKNCCL_REDUCE_SCATTER:
      return ncclReduceScatter(at.send, at.recv, call.count, type, op, comm, nullptr);
    case HACKNCCL_BROADCAST:
      return ncclBroadcast(at.send, at.recv, call.count, type, call.root, comm, nullptr);
    case HACKNCCL_REDUCE:
      return ncclReduce(at.send, at.recv, call.count, type, op, call.root, comm, nullptr);
    case HACKNCCL_ALL_TO_ALL:
      return ncclAlltoAll(at.send, at.recv, call.count, type, comm, nullptr);
    case HACKNCCL_GATHER:
      return ncclGather(at.send, at.recv, call.count, type, call.root, comm, nullptr);
    case HACKNCCL_SCATTER:
      return ncclScatter(at.send, at.recv, call.count, type, call.root, comm, nullptr);
    case HACKNCCL_SEND:
      return ncclSend(at.send, call.count, type, call.root, comm, nullptr);
    default:
      return ncclRecv(at.recv, call.count, type, call.root, comm, nullptr);
  }
}

// A reduction whose inputs are multiplied first is an object of the communicator.
ncclResult_t MakeCallWithOp(const hacknccl_call& call, const Buffers& at, ncclComm* comm) {
  if (call.op != HACKNCCL_PREMUL_SUM || !TakesOp(call.function)) {
    return MakeCall(call, static_cast<ncclRedOp_t>(call.op), at, comm);
  }
  uint64_t factor = 0;
  ncclRedOp_t op = ncclSum;
  const ncclResult_t made = ncclRedOpCreatePreMulSum(
      &op, &factor, static_cast<ncclDataType_t>(call.datatype), ncclScalarHostImmediate, comm);
  if (made != ncclSuccess) return made;
  const ncclResult_t result = MakeCall(call, op, at, comm);
  ncclRedOpDestroy(op, comm);
  return result;
}

std::string CheckCall(const hacknccl_call& call, int ranks) {
  const bool known =
      (call.function >= HACKNCCL_BROADCAST && call.function <= HACKNCCL_ALL_REDUCE) ||
      (call.function >= HACKNCCL_SEND && call.function <= HACKNCCL_GATHER);
  if (!known) return "there is no function " + std::to_string(call.function);
  if (call.datatype < 0 || call.datatype >= ncclNumTypes) {
    return "there is no data type " + std::to_string(call.datatype);
  }
  if (TakesOp(call.function) && (call.op < 0 || call.op > HACKNCCL_PREMUL_SUM)) {
    return "there is no reduction " + std::to_string(call.op);
  }
  if (call.in_place && call.function == HACKNCCL_ALL_TO_ALL) {
    return "NCCL has no all-to-all in place";
  }
  const auto size = static_cast<uint64_t>(ncclTypeSize(static_cast<ncclDataType_t>(call.datatype)));
  const uint64_t parts = IsPerRank(call.function) ? static_cast<uint64_t>(ranks) : 1;
  // NCCL multiplies sizes without a look at overflow; all-reduce counts its traffic twice, LL four
  // times.
  constexpr uint64_t kMostBytes = uint64_t{1} << 48;
  if (call.count > kMostBytes / size / parts) {
    return std::to_string(call.count) + " elements of " + std::to_string(size) + " B over " +
           std::to_string(ranks) + " ranks are more than the 2^48 B a GPU can address";
  }
  return "";
}

}  // namespace

std::string CheckCalls(const std::vector<hacknccl_call>& calls, int ranks) {
  for (const hacknccl_call& call : calls) {
    if (std::string error = CheckCall(call, ranks); !error.empty()) return error;
  }
  return "";
}

// The larger buffer, or either of equal ones, is where PlaceBuffers first put it.
int CallAt(ncclFunc_t function, const void* send, const void* receive) {
  const bool sends_more = function == ncclFuncReduceScatter;
  const auto at = reinterpret_cast<uintptr_t>(sends_more ? send : receive);
  return static_cast<int>((at - (at < kReceiveSpace ? kSendSpace : kReceiveSpace)) / kApart);
}

ncclResult_t MakeCalls(const std::vector<hacknccl_call>& calls, ncclComm* comm) {
  ncclResult_t result = ncclGroupStart();
  for (size_t i = 0; i < calls.size() && result == ncclSuccess; ++i) {
    result = MakeCallWithOp(calls[i], PlaceBuffers(calls[i], i, comm->rank), comm);
  }
  const ncclResult_t end = ncclGroupEnd();
  return result != ncclSuccess ? result : end;
}

}  // namespace drydock
