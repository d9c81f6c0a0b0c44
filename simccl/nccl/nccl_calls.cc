#include "simccl/nccl/nccl_calls.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "simccl/planner/call_shape.h"

namespace drydock {
namespace {

int NcclType(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kTf32:  // a multiplication format; stored as fp32
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
    case DataType::kFp8Block:
    case DataType::kMxfp8:
    case DataType::kNvfp4:
      break;
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
    case CollectiveType::kGrouped:
      break;  // frameworks make it of other calls
  }
  CHECK(false);
}

// Collects the calls and messages of a group, part by part.
class MessageWriter {
 public:
  explicit MessageWriter(GroupOfCalls* group) : group_(group) {}

  // Frameworks make an all-to-all-v of one send and one receive per peer. Both ends skip empty
  // messages.
  void AllToAllV(const CommCall& call, int64_t base) {
    const auto n = static_cast<size_t>(call.group_size);
    const int64_t size = SizeOf(call.type).count();
    for (size_t m = 0; m < n; ++m) {
      int64_t send_at = base, receive_at = base;
      for (size_t peer = 0; peer < n; ++peer) {
        const int64_t sent = call.pair_counts[m * n + peer] * size;
        const int64_t received = call.pair_counts[peer * n + m] * size;
        if (sent > 0) Send(call, m, static_cast<int>(peer), sent, send_at);
        if (received > 0) Receive(call, m, static_cast<int>(peer), received, receive_at);
        send_at += sent;
        receive_at += received;
      }
    }
  }

  void SendRecv(const CommCall& call, int64_t base) {
    Send(call, static_cast<size_t>(call.root), call.peer, call.bytes().count(), base);
    Receive(call, static_cast<size_t>(call.peer), call.root, call.bytes().count(), base);
  }

  // All-to-all, gather, scatter. The message between a member and a peer lies at the peer's part of
  // the larger buffer. Where the member has only the small buffer of a gather or scatter, it lies
  // at the member's own part.
  void Parts(const CommCall& call, int64_t base) {
    const int64_t part = call.bytes().count() / call.group_size;
    const bool gathers = call.collective == CollectiveType::kGather;
    const bool scatters = call.collective == CollectiveType::kScatter;
    for (int m = 0; m < call.group_size; ++m) {
      MemberCalls& own = group_->members[static_cast<size_t>(m)];
      Add(static_cast<size_t>(m), AsNcclCall(call), base);
      for (int peer = 0; peer < call.group_size; ++peer) {
        if (peer == m && call.in_place) continue;  // the part is already in place
        if (gathers ? peer == call.root : !scatters || m == call.root) {
          own.sends.push_back({peer, base + (gathers ? m : peer) * part});
        }
        if (scatters ? peer == call.root : !gathers || m == call.root) {
          own.receives.push_back({peer, base + (scatters ? m : peer) * part});
        }
      }
    }
  }

  void Add(size_t member, const hacknccl_call& call, int64_t base) {
    group_->members[member].calls.push_back(call);
    if (member == 0) group_->bases.push_back(base);
  }

 private:
  void Send(const CommCall& call, size_t member, int peer, int64_t bytes, int64_t offset) {
    Add(member, SendTo(peer, bytes, static_cast<int>(call.buffers)), offset);
    group_->members[member].sends.push_back({peer, offset});
  }
  void Receive(const CommCall& call, size_t member, int peer, int64_t bytes, int64_t offset) {
    Add(member, ReceiveFrom(peer, bytes, static_cast<int>(call.buffers)), offset);
    group_->members[member].receives.push_back({peer, offset});
  }

  GroupOfCalls* group_;
};

void AddCall(const CommCall& call, int64_t base, MessageWriter* writer, GroupOfCalls* group) {
  if (call.collective == CollectiveType::kAllToAllV) return writer->AllToAllV(call, base);
  if (call.collective == CollectiveType::kSendRecv) return writer->SendRecv(call, base);
  if (IsMessages(call.collective)) return writer->Parts(call, base);
  for (size_t m = 0; m < group->members.size(); ++m) writer->Add(m, AsNcclCall(call), base);
}

void SortByPeer(std::vector<MessagePlace>* places) {
  std::stable_sort(places->begin(), places->end(),
                   [](const MessagePlace& a, const MessagePlace& b) { return a.peer < b.peer; });
}

}  // namespace

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
          call.in_place,
          static_cast<int32_t>(call.buffers)};
}

GroupOfCalls CallsOf(const CommCall& call) {
  const bool grouped = call.collective == CollectiveType::kGrouped;
  const std::vector<CommCall> alone = {call};
  const std::vector<CommCall>& parts = grouped ? call.parts : alone;
  const std::vector<int64_t> bases = grouped ? OffsetsOfParts(call) : std::vector<int64_t>{0};
  GroupOfCalls group;
  group.has_messages = std::any_of(
      parts.begin(), parts.end(), [](const CommCall& part) { return IsMessages(part.collective); });
  group.members.resize(group.has_messages ? static_cast<size_t>(call.group_size) : 1);
  MessageWriter writer(&group);
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].count > 0) AddCall(parts[p], bases[p], &writer, &group);
  }
  for (MemberCalls& own : group.members) {
    SortByPeer(&own.sends);
    SortByPeer(&own.receives);
  }
  return group;
}

}  // namespace drydock
