#include "capture/hackcuda/device/collective_values.h"

#include <cstdint>
#include <cstring>

#include "capture/hackcuda/device/broadcasts.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda {
namespace {

// Numbers of ncclDataType_t and ncclRedOp_t.
constexpr int kInt32 = 2, kUint32 = 3, kInt64 = 4, kUint64 = 5, kFp32 = 7, kFp64 = 8, kBf16 = 9;
constexpr int kSum = 0;

template <typename Number>
void Multiply(void* values, size_t count, int factor) {
  char* at = static_cast<char*>(values);
  for (size_t i = 0; i < count; ++i, at += sizeof(Number)) {
    Number value;
    memcpy(&value, at, sizeof value);
    value = static_cast<Number>(value * static_cast<Number>(factor));
    memcpy(at, &value, sizeof value);
  }
}

// The upper half of an fp32.
void MultiplyBf16(void* values, size_t count, int factor) {
  auto* at = static_cast<uint16_t*>(values);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = uint32_t{at[i]} << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= static_cast<float>(factor);
    uint32_t result;
    memcpy(&result, &value, sizeof result);
    at[i] = static_cast<uint16_t>(result >> 16);
  }
}

void Sum(void* values, size_t count, int type, int ranks) {
  switch (type) {
    case kInt32:
    case kUint32:
      return Multiply<uint32_t>(values, count, ranks);
    case kInt64:
    case kUint64:
      return Multiply<uint64_t>(values, count, ranks);
    case kFp32:
      return Multiply<float>(values, count, ranks);
    case kFp64:
      return Multiply<double>(values, count, ranks);
    case kBf16:
      return MultiplyBf16(values, count, ranks);
    default:
      return;  // bytes and fp16: programs read flags of these, not sums
  }
}

}  // namespace

void MoveValues(const RecordEntry* call, const void* send, void* receive, size_t element,
                int ranks) {
  const size_t part = call->count * element;
  const size_t all = part * static_cast<size_t>(ranks);
  const auto own = static_cast<size_t>(call->rank);
  char* to = static_cast<char*>(receive);
  const char* from = static_cast<const char*>(send);
  switch (call->function) {
    case RecordFunction::kAllReduce:
    case RecordFunction::kReduce:
      if (part > kKept || (call->function == RecordFunction::kReduce && call->rank != call->peer)) {
        return;
      }
      CopyBytes(to, from, part);
      if (call->op == kSum) Sum(to, call->count, call->type, ranks);
      return;
    case RecordFunction::kReduceScatter:
      if (part > kKept) return;
      CopyBytes(to, from + own * part, part);
      if (call->op == kSum) Sum(to, call->count, call->type, ranks);
      return;
    case RecordFunction::kAllGather:
    case RecordFunction::kGather:
      if (all > kKept || (call->function == RecordFunction::kGather && call->rank != call->peer)) {
        return;
      }
      for (int i = 0; i < ranks; ++i) CopyBytes(to + static_cast<size_t>(i) * part, from, part);
      return;
    case RecordFunction::kAllToAll:
      // Each absent rank sends to this rank what this rank sends to itself.
      if (all > kKept) return;
      for (int i = 0; i < ranks; ++i) {
        CopyBytes(to + static_cast<size_t>(i) * part, from + own * part, part);
      }
      return;
    case RecordFunction::kBroadcast:
      if (part > kKept) return;
      if (call->rank == call->peer && to != nullptr) CopyBytes(to, from, part);
      ShareBroadcast(*call, call->rank == call->peer ? send : receive, part);
      return;
    case RecordFunction::kScatter:
      if (call->rank == call->peer && part <= kKept && to != nullptr) {
        CopyBytes(to, from + own * part, part);
      }
      return;
    case RecordFunction::kSend:
    case RecordFunction::kRecv:
      return;
  }
}

}  // namespace drydock::hackcuda
