#include "capture/hackcuda/device/collective_values.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "capture/hackcuda/device/broadcasts.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/device/unknown_values.h"

namespace drydock::hackcuda {
namespace {

// Numbers of ncclDataType_t and ncclRedOp_t.
constexpr int kInt8 = 0, kUint8 = 1, kInt32 = 2, kUint32 = 3, kInt64 = 4, kUint64 = 5, kFp32 = 7,
              kFp64 = 8, kBf16 = 9;
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

// Returns false if sums of this type are not computed: fp16 and fp8.
bool Sum(void* values, size_t count, int type, int ranks) {
  switch (type) {
    case kInt8:
    case kUint8:
      Multiply<uint8_t>(values, count, ranks);
      return true;
    case kInt32:
    case kUint32:
      Multiply<uint32_t>(values, count, ranks);
      return true;
    case kInt64:
    case kUint64:
      Multiply<uint64_t>(values, count, ranks);
      return true;
    case kFp32:
      Multiply<float>(values, count, ranks);
      return true;
    case kFp64:
      Multiply<double>(values, count, ranks);
      return true;
    case kBf16:
      MultiplyBf16(values, count, ranks);
      return true;
    default:
      return false;
  }
}

Values Unknown(const char* origin) { return {Knowledge::kUnknown, NameNumber(origin)}; }

// Copies values of this rank to the part of `receive` that an absent rank, or this one, fills.
void Give(void* receive, const void* own, size_t bytes) {
  CopyBytes(receive, own, bytes);
  SetValues(receive, bytes, ValuesAt(own, bytes));
}

void GiveSum(const RecordEntry& call, void* receive, const void* own, size_t bytes, int ranks) {
  Give(receive, own, bytes);
  if (call.op == kSum && ranks > 1 && !Sum(receive, call.count, call.type, ranks)) {
    SetValues(receive, bytes, Unknown("a sum of fp16 or fp8 over absent ranks"));
  }
}

// Messages of the group that is open. An exchange with all members is a message to and from each,
// also with the rank itself.
struct Exchange {
  const void* own = nullptr;  // what the rank sends to itself; null: nothing yet
  size_t bytes = 0;           // of it
  std::vector<std::pair<void*, size_t>> received;
};

thread_local Exchange exchange;

// `buffer`: that of the message, whichever way it goes.
void MoveMessage(const RecordEntry& call, void* buffer, size_t bytes) {
  if (call.function == RecordFunction::kRecv) {
    SetValues(buffer, bytes, Unknown("a message of an absent rank"));
    exchange.received.emplace_back(buffer, bytes);
  } else if (call.peer == call.rank) {
    exchange.own = buffer;
    exchange.bytes = bytes;
  }
  if (exchange.own == nullptr || exchange.bytes > kKept) return;
  for (const auto& [to, size] : exchange.received) {
    if (size == exchange.bytes) Give(to, exchange.own, size);
  }
  exchange.received.clear();
}

}  // namespace

void MoveValues(const RecordEntry* call, const void* send, void* receive, size_t element,
                int ranks) {
  const size_t part = call->count * element;
  const size_t all = part * static_cast<size_t>(ranks);
  const auto own = static_cast<size_t>(call->rank);
  const bool is_root = call->rank == call->peer;
  char* to = static_cast<char*>(receive);
  const char* from = static_cast<const char*>(send);
  const auto fill = [to](size_t bytes, const auto& give) {
    if (to == nullptr) return;
    if (bytes <= kKept) {
      give();
    } else {
      SetValues(to, bytes, Unknown("a large call of NCCL"));
    }
  };
  switch (call->function) {
    case RecordFunction::kReduce:
      if (!is_root) return;
      [[fallthrough]];
    case RecordFunction::kAllReduce:
      return fill(part, [&] { GiveSum(*call, to, from, part, ranks); });
    case RecordFunction::kReduceScatter:
      return fill(part, [&] { GiveSum(*call, to, from + own * part, part, ranks); });
    case RecordFunction::kGather:
      if (!is_root) return;
      [[fallthrough]];
    case RecordFunction::kAllGather:
      return fill(all, [&] {
        for (int i = 0; i < ranks; ++i) Give(to + static_cast<size_t>(i) * part, from, part);
      });
    case RecordFunction::kAllToAll:
      // Each absent rank sends to this rank what this rank sends to itself.
      return fill(all, [&] {
        for (int i = 0; i < ranks; ++i) {
          Give(to + static_cast<size_t>(i) * part, from + own * part, part);
        }
      });
    case RecordFunction::kBroadcast:
      if (is_root) {
        fill(part, [&] { Give(to, from, part); });
      } else {
        fill(part, [&] { SetValues(to, part, Values()); });
      }
      if (part <= kKept && !ShareBroadcast(*call, is_root ? send : receive, part)) {
        SetValues(to, part, Unknown("a broadcast of a rank that has not run"));
      }
      return;
    case RecordFunction::kScatter:
      if (is_root) {
        fill(part, [&] { Give(to, from + own * part, part); });
      } else if (to != nullptr) {
        SetValues(to, part, Unknown("a scatter of an absent rank"));
      }
      return;
    case RecordFunction::kSend:
    case RecordFunction::kRecv:
      return MoveMessage(*call, receive, part);  // NCCL has both buffers there
  }
}

void EndMessages() { exchange = {}; }

}  // namespace drydock::hackcuda
