#include "simccl/nccl_calls.h"

#include "core/base/check.h"

namespace drydock {
namespace {

int NcclType(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kTf32:  // a way to multiply; stored as fp32
      return HACKNCCL_FLOAT32;
    case DataType::kFp16:
      return HACKNCCL_FLOAT16;
    case DataType::kBf16:
      return HACKNCCL_BFLOAT16;
    case DataType::kFp8:
      return HACKNCCL_FLOAT8_E4M3;
    case DataType::kInt8:
      return HACKNCCL_INT8;
    case DataType::kInt32:
      return HACKNCCL_INT32;
    case DataType::kInt64:
      return HACKNCCL_INT64;
    case DataType::kFp64:
      return HACKNCCL_FLOAT64;
    case DataType::kFp8E5m2:
      return HACKNCCL_FLOAT8_E5M2;
    case DataType::kUint8:
      return HACKNCCL_UINT8;
    case DataType::kUint32:
      return HACKNCCL_UINT32;
    case DataType::kUint64:
      return HACKNCCL_UINT64;
  }
  CHECK(false);
}

int NcclOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return HACKNCCL_SUM;
    case ReduceOp::kMax:
      return HACKNCCL_MAX;
    case ReduceOp::kAverage:
      return HACKNCCL_AVG;
    case ReduceOp::kMin:
      return HACKNCCL_MIN;
    case ReduceOp::kProd:
      return HACKNCCL_PROD;
    case ReduceOp::kPremulSum:
      return HACKNCCL_PREMUL_SUM;
  }
  CHECK(false);
}

int NcclFunction(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return HACKNCCL_ALL_REDUCE;
    case CollectiveType::kAllGather:
      return HACKNCCL_ALL_GATHER;
    case CollectiveType::kReduceScatter:
      return HACKNCCL_REDUCE_SCATTER;
    case CollectiveType::kBroadcast:
      return HACKNCCL_BROADCAST;
    case CollectiveType::kReduce:
      return HACKNCCL_REDUCE;
    case CollectiveType::kAllToAll:
      return HACKNCCL_ALL_TO_ALL;
    case CollectiveType::kGather:
      return HACKNCCL_GATHER;
    case CollectiveType::kScatter:
      return HACKNCCL_SCATTER;
    case CollectiveType::kSendRecv:
    case CollectiveType::kAllToAllV:
      break;  // made of messages
  }
  CHECK(false);
}

// Each member's calls of an all-to-all-v, as every framework makes them: one group of a send and a
// receive per peer. Empty messages are left out at both ends.
Messages AllToAllV(const CommCall& call) {
  const auto n = static_cast<size_t>(call.group_size);
  const int64_t size = SizeOf(call.type).count();
  Messages messages(n);
  for (size_t m = 0; m < n; ++m) {
    int64_t send_at = 0, receive_at = 0;
    for (size_t peer = 0; peer < n; ++peer) {
      const int64_t sent = call.pair_counts[m * n + peer] * size;
      const int64_t received = call.pair_counts[peer * n + m] * size;
      MemberMessages& own = messages[m];
      own.send_offset.push_back(send_at);
      own.receive_offset.push_back(receive_at);
      if (sent > 0) own.calls.push_back(SendTo(static_cast<int>(peer), sent));
      if (received > 0) own.calls.push_back(ReceiveFrom(static_cast<int>(peer), received));
      send_at += sent;
      receive_at += received;
    }
  }
  return messages;
}

}  // namespace

int64_t PartsOf(const CommCall& call) { return HasParts(call.collective) ? call.group_size : 1; }

bool IsMessages(CollectiveType type) {
  return type == CollectiveType::kSendRecv || type == CollectiveType::kAllToAll ||
         type == CollectiveType::kGather || type == CollectiveType::kScatter ||
         type == CollectiveType::kAllToAllV;
}

hacknccl_call AsNcclCall(const CommCall& call) {
  return {NcclFunction(call.collective),
          NcclType(call.type),
          NcclOp(call.op),
          call.root,
          static_cast<uint64_t>(call.count / PartsOf(call)),
          call.in_place};
}

Messages MessagesOf(const CommCall& call) {
  if (call.collective == CollectiveType::kAllToAllV) return AllToAllV(call);
  const auto n = static_cast<size_t>(call.group_size);
  Messages messages(n);
  if (call.collective == CollectiveType::kSendRecv) {
    const std::vector<int64_t> start(n, 0);
    for (MemberMessages& own : messages) own.send_offset = own.receive_offset = start;
    messages[static_cast<size_t>(call.root)].calls = {SendTo(call.peer, call.bytes().count())};
    messages[static_cast<size_t>(call.peer)].calls.push_back(
        ReceiveFrom(call.root, call.bytes().count()));
    return messages;
  }
  // The part of a pair lies where the larger buffer has the part of its other end, or for the small
  // buffer of a gather or scatter, of the member itself.
  const int64_t part = call.bytes().count() / call.group_size;
  for (size_t m = 0; m < n; ++m) {
    MemberMessages& own = messages[m];
    own.calls = {AsNcclCall(call)};
    for (size_t peer = 0; peer < n; ++peer) {
      const auto of_peer = static_cast<int64_t>(peer) * part;
      const auto of_self = static_cast<int64_t>(m) * part;
      own.send_offset.push_back(call.collective == CollectiveType::kGather ? of_self : of_peer);
      own.receive_offset.push_back(call.collective == CollectiveType::kScatter ? of_self : of_peer);
    }
  }
  return messages;
}

}  // namespace drydock
