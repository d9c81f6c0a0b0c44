#include "calls.h"

#include <cstdint>

namespace drydock {
namespace {

// Addresses NCCL passes on to kernels that never run.
void* const kSendBuffer = reinterpret_cast<void*>(uintptr_t{1} << 44);
void* const kRecvBuffer = reinterpret_cast<void*>(uintptr_t{1} << 45);

}  // namespace

ncclResult_t RunCollective(const hacknccl_call& call, ncclComm* comm) {
  const auto type = static_cast<ncclDataType_t>(call.datatype);
  const auto op = static_cast<ncclRedOp_t>(call.op);
  switch (call.function) {
    case HACKNCCL_ALL_REDUCE:
      return ncclAllReduce(kSendBuffer, kRecvBuffer, call.count, type, op, comm, nullptr);
    case HACKNCCL_ALL_GATHER:
      return ncclAllGather(kSendBuffer, kRecvBuffer, call.count, type, comm, nullptr);
    case HACKNCCL_REDUCE_SCATTER:
      return ncclReduceScatter(kSendBuffer, kRecvBuffer, call.count, type, op, comm, nullptr);
    case HACKNCCL_BROADCAST:
      return ncclBroadcast(kSendBuffer, kRecvBuffer, call.count, type, call.root, comm, nullptr);
    case HACKNCCL_REDUCE:
      return ncclReduce(kSendBuffer, kRecvBuffer, call.count, type, op, call.root, comm, nullptr);
    default:
      return ncclInvalidArgument;
  }
}

ncclResult_t RunMessages(const std::vector<hacknccl_message>& messages, ncclComm* comm) {
  ncclResult_t result = ncclGroupStart();
  for (const hacknccl_message& message : messages) {
    if (result != ncclSuccess) break;
    result = message.is_send
                 ? ncclSend(kSendBuffer, message.bytes, ncclInt8, message.peer, comm, nullptr)
                 : ncclRecv(kRecvBuffer, message.bytes, ncclInt8, message.peer, comm, nullptr);
  }
  const ncclResult_t end = ncclGroupEnd();
  return result != ncclSuccess ? result : end;
}

}  // namespace drydock
