#include "simccl/expand/expand.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace drydock {

ChannelShare ShareOf(const hacknccl_collective& work, int channel) {
  const auto elements = [&work](uint64_t bytes) {
    return static_cast<int64_t>(bytes) / work.element_bytes;
  };
  const auto lo = static_cast<int64_t>(work.count_lo);
  const auto mid = static_cast<int64_t>(work.count_mid);
  const auto hi = static_cast<int64_t>(work.count_hi);
  if (channel == work.channel_lo) return {0, lo, elements(work.chunk_lo)};
  if (channel == work.channel_hi) {
    return {lo + mid * (work.channel_hi - work.channel_lo - 1), hi, elements(work.chunk_hi)};
  }
  return {lo + mid * (channel - work.channel_lo - 1), mid, elements(work.chunk_mid)};
}

EvenShare EvenShareOf(const hacknccl_collective& work, int channel, int64_t chunks) {
  const auto total = static_cast<int64_t>(work.count) * work.element_bytes;
  const int channels = work.channel_hi - work.channel_lo + 1;
  EvenShare share;
  share.window = static_cast<int64_t>(work.chunk_lo) * chunks;
  share.base = share.window * (channel - work.channel_lo);
  share.stride = share.window * channels;
  share.total = std::max<int64_t>(total - share.base, 0);
  return share;
}

namespace {

const char* NameOf(int algorithm) {
  static constexpr const char* kNames[] = {
      "tree", "ring", "CollNet direct", "CollNet chain", "NVLS", "NVLS tree", "PAT"};
  CHECK(algorithm >= 0 && algorithm <= HACKNCCL_PAT);
  return kNames[algorithm];
}

const char* NameOfFunction(int function) {
  static constexpr const char* kNames[] = {"broadcast", "reduce", "all-gather", "reduce-scatter",
                                           "all-reduce"};
  CHECK(function >= 0 && function <= HACKNCCL_ALL_REDUCE);
  return kNames[function];
}

// prims_simple.h, genericOp: a chunk of any size is cut into as many slices as its steps hold. A
// slice is a multiple of 16 elements, and only the last is shorter than 1/32 of a slice's steps.
void SetSlices(const hacknccl_collective& work, PlanBuilder* builder) {
  Work& planned = builder->work();
  planned.slots /= work.slice_steps;
  const int slices = work.chunk_steps / work.slice_steps;
  if (slices == 1) return;
  const hacknccl_shape& shape = builder->communicator().shape();
  const int64_t step = shape.buffer_bytes[work.protocol] / shape.slots / work.element_bytes;
  planned.slices = slices;
  planned.slice_grain = 16 * work.element_bytes;
  planned.slice_bytes = step * work.slice_steps / 32 * work.element_bytes;
}

}  // namespace

Error NoExpansion(const std::string& what, const std::string& call) {
  return Error(fmt::format("NCCL chose {} for {}; Drydock has no expansion of it", what, call));
}

Status CheckKernels(const NcclPlan& plan, size_t calls) {
  const char* const whose = calls > 1 ? "these calls" : "this call";
  switch (plan.kind) {
    case HACKNCCL_PLAN_SYMMETRIC:
      return NoExpansion("the symmetric-memory kernel " + plan.symmetric_kernel, whose);
    case HACKNCCL_PLAN_COPY_ENGINE:
      return NoExpansion("copy engines", whose);
    case HACKNCCL_PLAN_RMA:
      return NoExpansion("one-sided puts", whose);
    default:
      return OkStatus();
  }
}

Status ExpandCollective(const hacknccl_collective& work, PlanBuilder* builder) {
  Work& planned = builder->work();
  planned.algorithm = static_cast<Algorithm>(work.algorithm);
  planned.protocol = static_cast<Protocol>(work.protocol);
  planned.channels = work.channel_hi - work.channel_lo + 1;
  planned.warps = work.warps;
  planned.registered = (work.direct & HACKNCCL_DIRECT_NVLS) != 0;
  builder->SetDirect(work.direct);
  if (work.even && (work.direct & HACKNCCL_DIRECT_NET) != 0) {
    return NoExpansion(
        std::string(NameOf(work.algorithm)) + " on buffers that the NICs read and write",
        fmt::format("this {}", NameOfFunction(work.function)));
  }
  const bool reduces_all = work.function == HACKNCCL_ALL_REDUCE;
  if (work.algorithm == HACKNCCL_RING) {
    RETURN_IF_ERROR(ExpandRing(work, builder));
  } else if (work.algorithm == HACKNCCL_TREE && reduces_all) {
    RETURN_IF_ERROR(ExpandTree(work, builder));
  } else if (work.algorithm == HACKNCCL_COLLNET_CHAIN && reduces_all) {
    RETURN_IF_ERROR(ExpandCollNetChain(work, builder));
  } else if (work.algorithm == HACKNCCL_COLLNET_DIRECT && reduces_all) {
    RETURN_IF_ERROR(ExpandCollNetDirect(work, builder));
  } else if (work.even && !reduces_all &&
             (work.algorithm == HACKNCCL_COLLNET_DIRECT || work.algorithm == HACKNCCL_NVLS)) {
    RETURN_IF_ERROR(ExpandCollNetGatherScatter(work, builder));
  } else if (work.algorithm == HACKNCCL_NVLS) {
    RETURN_IF_ERROR(ExpandNvls(work, builder));
  } else if (work.algorithm == HACKNCCL_NVLS_TREE && reduces_all) {
    RETURN_IF_ERROR(ExpandNvlsTree(work, builder));
  } else if (work.algorithm == HACKNCCL_PAT) {
    RETURN_IF_ERROR(ExpandPat(work, builder));
  } else {
    return NoExpansion(
        std::string(NameOf(work.algorithm)) + (work.even ? " with in-network reduction" : ""),
        fmt::format("this {}", NameOfFunction(work.function)));
  }
  SetSlices(work, builder);
  return OkStatus();
}

}  // namespace drydock
