// Makes a call of the C interface through nccl.h: for the library, and for the program that plays a
// schedule (schedule/).
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALLS_NCCL_CALL_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALLS_NCCL_CALL_H_

#include <cstdint>

#include "core/nccl/hacknccl.h"
#include "nccl.h"

namespace drydock {

inline ncclResult_t MakeNcclCall(const hacknccl_call& call, ncclRedOp_t op, void* send,
                                 void* receive, ncclComm_t comm, cudaStream_t stream) {
  const auto type = static_cast<ncclDataType_t>(call.datatype);
  switch (call.function) {
    case HACKNCCL_ALL_REDUCE:
      return ncclAllReduce(send, receive, call.count, type, op, comm, stream);
    case HACKNCCL_ALL_GATHER:
      return ncclAllGather(send, receive, call.count, type, comm, stream);
    case HACKNCCL_REDUCE_SCATTER:
      return ncclReduceScatter(send, receive, call.count, type, op, comm, stream);
    case HACKNCCL_BROADCAST:
      return ncclBroadcast(send, receive, call.count, type, call.root, comm, stream);
    case HACKNCCL_REDUCE:
      return ncclReduce(send, receive, call.count, type, op, call.root, comm, stream);
    case HACKNCCL_ALL_TO_ALL:
      return ncclAlltoAll(send, receive, call.count, type, comm, stream);
    case HACKNCCL_GATHER:
      return ncclGather(send, receive, call.count, type, call.root, comm, stream);
    case HACKNCCL_SCATTER:
      return ncclScatter(send, receive, call.count, type, call.root, comm, stream);
    case HACKNCCL_SEND:
      return ncclSend(send, call.count, type, call.root, comm, stream);
    case HACKNCCL_RECV:
      return ncclRecv(receive, call.count, type, call.root, comm, stream);
    default:
      return ncclInvalidArgument;
  }
}

// Returns the name of NCCL's function, for errors.
inline const char* NcclNameOf(int function) {
  switch (function) {
    case HACKNCCL_ALL_REDUCE:
      return "ncclAllReduce";
    case HACKNCCL_ALL_GATHER:
      return "ncclAllGather";
    case HACKNCCL_REDUCE_SCATTER:
      return "ncclReduceScatter";
    case HACKNCCL_BROADCAST:
      return "ncclBroadcast";
    case HACKNCCL_REDUCE:
      return "ncclReduce";
    case HACKNCCL_ALL_TO_ALL:
      return "ncclAlltoAll";
    case HACKNCCL_GATHER:
      return "ncclGather";
    case HACKNCCL_SCATTER:
      return "ncclScatter";
    case HACKNCCL_SEND:
      return "ncclSend";
    case HACKNCCL_RECV:
      return "ncclRecv";
    default:
      return "a function that NCCL does not have";
  }
}

inline bool TakesReduction(int function) {
  return function == HACKNCCL_ALL_REDUCE || function == HACKNCCL_REDUCE ||
         function == HACKNCCL_REDUCE_SCATTER;
}

// A reduction that first multiplies its inputs is an object of the communicator.
inline ncclResult_t MakeNcclCall(const hacknccl_call& call, void* send, void* receive,
                                 ncclComm_t comm, cudaStream_t stream) {
  if (call.op != HACKNCCL_PREMUL_SUM || !TakesReduction(call.function)) {
    return MakeNcclCall(call, static_cast<ncclRedOp_t>(call.op), send, receive, comm, stream);
  }
  uint64_t factor = 0;
  ncclRedOp_t op = ncclSum;
  const ncclResult_t made = ncclRedOpCreatePreMulSum(
      &op, &factor, static_cast<ncclDataType_t>(call.datatype), ncclScalarHostImmediate, comm);
  if (made != ncclSuccess) return made;
  const ncclResult_t result = MakeNcclCall(call, op, send, receive, comm, stream);
  ncclRedOpDestroy(op, comm);
  return result;
}

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALLS_NCCL_CALL_H_
