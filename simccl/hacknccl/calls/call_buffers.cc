#include "simccl/hacknccl/calls/call_buffers.h"

#include <algorithm>
#include <iterator>

#include "collectives.h"

namespace drydock {
namespace {

// Large enough for every call that CheckCalls accepts. Like memory that GPUs share, pairs take
// whole granules and are a granule apart.
constexpr uintptr_t kSendSpace = uintptr_t{1} << 52, kReceiveSpace = uintptr_t{1} << 53;
constexpr uintptr_t kGranule = uintptr_t{1} << 21;

struct Sizes {
  size_t send, receive;
};

Sizes SizesOf(const hacknccl_call& call, int rank, int ranks) {
  const size_t part = call.count * TypeSize(call);
  const size_t all = part * static_cast<size_t>(ranks);
  const bool root = call.root == rank;
  switch (call.function) {
    case HACKNCCL_ALL_GATHER:
      return {part, all};
    case HACKNCCL_REDUCE_SCATTER:
      return {all, part};
    case HACKNCCL_ALL_TO_ALL:
      return {all, all};
    case HACKNCCL_GATHER:
      return {part, root ? all : 0};
    case HACKNCCL_SCATTER:
      return {root ? all : 0, part};
    case HACKNCCL_SEND:
      return {part, 0};
    case HACKNCCL_RECV:
      return {0, part};
    default:
      return {part, part};
  }
}

CallBuffers::Pair Place(const hacknccl_call& call, uintptr_t offset, int rank, int ranks) {
  const Sizes sizes = SizesOf(call, rank, ranks);
  CallBuffers::Pair pair = {{reinterpret_cast<char*>(kSendSpace + offset), sizes.send},
                            {reinterpret_cast<char*>(kReceiveSpace + offset), sizes.receive}};
  if (!call.in_place) return pair;
  const size_t own = static_cast<size_t>(rank) * call.count * TypeSize(call);
  switch (call.function) {
    case HACKNCCL_ALL_GATHER:
    case HACKNCCL_GATHER:
      pair.send.at = pair.receive.at + own;
      break;
    case HACKNCCL_REDUCE_SCATTER:
    case HACKNCCL_SCATTER:
      pair.receive.at = pair.send.at + own;
      break;
    default:
      pair.receive.at = pair.send.at;
  }
  return pair;
}

}  // namespace

CallBuffers::CallBuffers(const std::vector<hacknccl_call>& calls, int rank, int ranks) {
  uintptr_t offset = 0;
  for (const hacknccl_call& call : calls) {
    pairs_.push_back(Place(call, offset, rank, ranks));
    offsets_.push_back(offset);
    offset += kGranule + (LargerBuffer(call, ranks) + kGranule - 1) / kGranule * kGranule;
  }
}

int CallBuffers::CallAt(ncclFunc_t function, const void* send, const void* receive) const {
  const bool sends_more = function == ncclFuncReduceScatter;
  const auto at = reinterpret_cast<uintptr_t>(sends_more ? send : receive);
  const uintptr_t offset = at - (at < kReceiveSpace ? kSendSpace : kReceiveSpace);
  const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), offset);
  return static_cast<int>(std::distance(offsets_.begin(), next)) - 1;
}

size_t LargerBuffer(const hacknccl_call& call, int ranks) {
  const Sizes sizes = SizesOf(call, call.root, ranks);
  return std::max(sizes.send, sizes.receive);
}

size_t TypeSize(const hacknccl_call& call) {
  return static_cast<size_t>(ncclTypeSize(static_cast<ncclDataType_t>(call.datatype)));
}

bool IsPerRank(int function) {
  return function == HACKNCCL_ALL_GATHER || function == HACKNCCL_REDUCE_SCATTER ||
         function == HACKNCCL_ALL_TO_ALL || function == HACKNCCL_GATHER ||
         function == HACKNCCL_SCATTER;
}

}  // namespace drydock
