// Describes a kernel plan in the terms of core/nccl/hacknccl_plan.h.
#include "checks.h"
#include "comm.h"
#include "device.h"
#include "enqueue.h"
#include "proxy.h"
#include "simccl/hacknccl/calls/call_buffers.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "sym_kernels.h"

namespace drydock {
namespace {

// The task holds device constants of the ring kernels under the Simple protocol. Every other
// algorithm moves one step at a time.
bool StepsApply(const ncclTaskColl& task) {
  return task.protocol == NCCL_PROTO_SIMPLE && task.algorithm == NCCL_ALGO_RING;
}

// The bytes that a kernel moves at once if data bypasses NCCL's own buffers.
constexpr int64_t kWholeChunk = NCCL_MAX_NET_SIZE;

// all_gather.h, isNetOffload: with one GPU per host the NICs move all data.
void MoveWhole(hacknccl_collective* out) {
  out->chunk_lo = out->chunk_mid = out->chunk_hi =
      static_cast<uint64_t>(kWholeChunk) * out->element_bytes;
  out->chunk_steps = out->slice_steps = 1;
}

hacknccl_collective Describe(const ncclComm& comm, const ncclTaskColl& task,
                             const ncclDevWorkColl& work) {
  hacknccl_collective out = {};
  out.call = CurrentLaunch().buffers->CallAt(task.func, task.sendbuff, task.recvbuff);
  out.function = task.func;
  out.algorithm = task.algorithm;
  out.protocol = task.protocol;
  out.element_bytes = ncclTypeSize(task.datatype);
  out.root = task.root;
  out.channel_lo = work.channelLo;
  out.channel_hi = work.channelHi;
  out.warps = task.nWarps;
  out.even = task.isCollnet;
  out.count = task.count;
  if (task.isCollnet) {
    out.count_lo = work.collnet.count;
    out.chunk_lo = static_cast<uint64_t>(work.collnet.chunkCount) * out.element_bytes;
  } else {
    const uint64_t grain = static_cast<uint64_t>(ncclProtoGrainSize(task.protocol));
    out.count_lo = work.cbd.countLo;
    out.count_mid = work.cbd.countMid;
    out.count_hi = work.cbd.countHi;
    out.chunk_lo = work.cbd.chunkGrainsLo * grain;
    out.chunk_mid = work.cbd.chunkGrainsMid * grain;
    out.chunk_hi = work.cbd.chunkGrainsHi * grain;
  }
  out.chunk_steps = StepsApply(task) ? task.chunkSteps : 1;
  out.slice_steps = StepsApply(task) ? task.sliceSteps : 1;
  static_assert(HACKNCCL_DIRECT_PEER == NCCL_IPC_REG_BUFFER);
  static_assert(HACKNCCL_DIRECT_NVLS == NCCL_NVLS_REG_BUFFER);
  static_assert(HACKNCCL_DIRECT_NET == NCCL_NET_REG_BUFFER);
  out.direct = static_cast<int32_t>(task.regBufType);
  const bool gathers = task.func == ncclFuncAllGather && task.algorithm == NCCL_ALGO_RING;
  if (gathers && comm.isOneRPN && (out.direct & HACKNCCL_DIRECT_NET) != 0) MoveWhole(&out);
  return out;
}

int32_t Direct(bool peer, bool net) {
  return peer ? HACKNCCL_DIRECT_PEER : net ? HACKNCCL_DIRECT_NET : 0;
}

// sendrecv.h, useLargeChunk.
int64_t ChunkOf(const ncclComm& comm, int32_t direct, int64_t planned) {
  const bool whole =
      direct == HACKNCCL_DIRECT_NET || (direct == HACKNCCL_DIRECT_PEER && comm.isAllNvlink);
  return whole ? kWholeChunk : planned;
}

hacknccl_exchange Describe(const ncclComm& comm, const ncclDevWorkP2p& work) {
  hacknccl_exchange out = {};
  out.send_peer = work.nSendChannels == 0 ? -1 : work.sendRank;
  out.recv_peer = work.nRecvChannels == 0 ? -1 : work.recvRank;
  out.send_bytes = work.sendBytes;
  out.recv_bytes = work.recvBytes;
  out.send_channels = work.nSendChannels;
  out.recv_channels = work.nRecvChannels;
  out.send_ll = work.sendProtoLL;
  out.recv_ll = work.recvProtoLL;
  out.channel_base = work.channelBase;
  out.send_direct = Direct(work.sendIpcReg, work.sendNetReg);
  out.recv_direct = Direct(work.recvIpcReg, work.recvNetReg);
  out.send_chunk = ChunkOf(comm, out.send_direct, u32fp8Decode(work.sendChunkSize_u32fp8));
  out.recv_chunk = ChunkOf(comm, out.recv_direct, u32fp8Decode(work.recvChunkSize_u32fp8));
  return out;
}

// Leaves the root as a distance up the ring and the offset as an address; PlaceBroadcast fixes
// both.
hacknccl_broadcast Describe(const ncclDevWorkBcast& work) {
  hacknccl_broadcast out = {};
  out.root = work.ringDepth;
  out.offset = reinterpret_cast<uintptr_t>(work.recvbuff);
  out.bytes = work.bytes;
  out.chunk = work.chunkSize;
  return out;
}

hacknccl_proxy_op Describe(const ncclProxyOp& op) {
  hacknccl_proxy_op out = {};
  out.channel = op.channelId;
  out.protocol = op.protocol;
  out.steps = op.nsteps;
  out.chunk_steps = op.chunkSteps;
  out.slice_steps = op.sliceSteps;
  out.chunk_bytes = static_cast<int64_t>(op.chunkSize);
  out.slice_bytes = static_cast<int64_t>(op.sliceSize);
  out.loop_bytes = static_cast<int64_t>(op.loopSize);
  out.bytes = static_cast<int64_t>(op.nbytes);
  return out;
}

// Indices of a plan's works by their offset in the work space, in units of 16 bytes.
using WorkIndex = std::vector<uint32_t>;
constexpr size_t kWorkUnit = 16;  // device.h: works are aligned to it

// Sets what a broadcast's work does not hold: its channel, and with it the root and the call.
void PlaceBroadcast(const ncclComm& comm, ncclKernelPlan* plan, int channel, int protocol,
                    hacknccl_broadcast* work) {
  const int steps_from_root = work->root;  // set by DescribeWorks
  work->channel = channel;
  work->protocol = protocol;
  work->warps = plan->threadPerBlock / WARP_SIZE;
  work->root = comm.channels[channel].ring.userRanks[(comm.nRanks - steps_from_root) % comm.nRanks];
  for (const ncclTaskBcast* task = ncclIntruQueueHead(&plan->bcastTaskQueue); task != nullptr;
       task = task->next) {
    if (task->root != work->root) continue;
    work->call = CurrentLaunch().buffers->CallAt(ncclFuncBroadcast, task->sendbuff, task->recvbuff);
    work->offset -= reinterpret_cast<uintptr_t>(task->recvbuff);
  }
}

int ProtocolOfBroadcasts(const ncclDevWorkBatch& batch) {
  int protocol = 0;
  while (ncclDevFuncId(ncclFuncAllGatherV, 0, 0, NCCL_ALGO_RING, protocol) != batch.funcId) {
    ++protocol;
  }
  return protocol;
}

int WorksOf(const ncclDevWorkBatch& batch) {
  return batch.workType == ncclDevWorkTypeP2p     ? HACKNCCL_EXCHANGES
         : batch.workType == ncclDevWorkTypeBcast ? HACKNCCL_BROADCASTS
                                                  : HACKNCCL_COLLECTIVES;
}

// The device merges a batch with the batches that extend it; so does this function.
void DescribeBatches(const ncclComm& comm, ncclKernelPlan* plan, const WorkIndex& places,
                     NcclPlan* captured) {
  const auto* batches = reinterpret_cast<const ncclDevWorkBatch*>(plan->kernelArgs + 1);
  int channel_order = 0;
  for (int channel = 0; channel < MAXCHANNELS; ++channel) {
    if ((plan->channelMask >> channel & 1) == 0) continue;
    const ncclDevWorkBatch* batch = batches + channel_order++;
    for (bool extends = false, last = false; !last; batch += batch->nextJump) {
      if (!extends) {
        const auto first = static_cast<uint32_t>(captured->batch_works.size());
        captured->batches.push_back({captured->kernels, channel, WorksOf(*batch), first, 0});
      }
      const size_t size = ncclDevWorkSize(static_cast<ncclDevWorkType>(batch->workType));
      for (int bit = 0; bit < 64; ++bit) {
        if ((batch->offsetBitset >> bit & 1) == 0) continue;
        const size_t offset = batch->offsetBase + static_cast<size_t>(bit) * size;
        const uint32_t work = places[offset / kWorkUnit];
        captured->batch_works.push_back(work);
        if (batch->workType == ncclDevWorkTypeBcast) {
          PlaceBroadcast(comm, plan, channel, ProtocolOfBroadcasts(*batch),
                         &captured->broadcasts[work]);
        }
        ++captured->batches.back().count;
      }
      extends = batch->nextExtends;
      last = batch->nextJump == 0;
    }
  }
}

// Works are in the order of their tasks; send and receive works have no task here.
ncclResult_t DescribeWorks(const ncclComm& comm, ncclKernelPlan* plan, WorkIndex* places,
                           NcclPlan* captured) {
  const ncclTaskColl* task = ncclIntruQueueHead(&plan->collTaskQueue);
  for (ncclWorkList* work = ncclIntruQueueHead(&plan->workQueue); work != nullptr;
       work = work->next) {
    size_t index = 0;
    if (work->workType == ncclDevWorkTypeP2p) {
      index = captured->exchanges.size();
      captured->exchanges.push_back(Describe(comm, *reinterpret_cast<ncclDevWorkP2p*>(work + 1)));
    } else if (work->workType == ncclDevWorkTypeBcast) {
      index = captured->broadcasts.size();
      captured->broadcasts.push_back(Describe(*reinterpret_cast<ncclDevWorkBcast*>(work + 1)));
    } else if (task != nullptr) {
      index = captured->collectives.size();
      captured->collectives.push_back(
          Describe(comm, *task, *reinterpret_cast<ncclDevWorkColl*>(work + 1)));
      task = task->next;
    } else {
      WARN("a kernel plan holds work of the unknown type %d", work->workType);
      return ncclInternalError;
    }
    places->insert(places->end(), static_cast<size_t>(work->size) / kWorkUnit,
                   static_cast<uint32_t>(index));
  }
  return ncclSuccess;
}

// NCCL keeps only the address of the kernel.
const char* NameOfSymmetricKernel(const void* function) {
  for (int id = 0; id < ncclSymkKernelId_Count; ++id) {
    for (int op = 0; op < ncclNumDevRedOps; ++op) {
      for (int type = 0; type < ncclNumTypes; ++type) {
        const int index = ncclSymkGetKernelIndex(static_cast<ncclSymkKernelId>(id), op,
                                                 static_cast<ncclDataType_t>(type));
        if (index >= 0 && ncclSymkKernelList[index] == function) {
          return ncclSymkKernelIdToString(id);
        }
      }
    }
  }
  return "(unnamed)";
}

}  // namespace

ncclResult_t CapturePlan(ncclComm* comm, ncclKernelPlan* plan) {
  NcclPlan& captured = CurrentLaunch().plan;
  const int kind = plan->isSymColl  ? HACKNCCL_PLAN_SYMMETRIC
                   : plan->isCeColl ? HACKNCCL_PLAN_COPY_ENGINE
                   : plan->isRma    ? HACKNCCL_PLAN_RMA
                                    : HACKNCCL_PLAN_KERNEL;
  // A group may launch several kernels; the first that is not a kernel of works sets the kind.
  const bool is_set = captured.kind != HACKNCCL_PLAN_LOCAL && captured.kind != HACKNCCL_PLAN_KERNEL;
  if (!is_set) {
    captured.kind = kind;
    if (plan->isSymColl) captured.symmetric_kernel = NameOfSymmetricKernel(plan->kernelFn);
  }
  captured.threads = std::max(captured.threads, plan->threadPerBlock);
  if (kind == HACKNCCL_PLAN_KERNEL) {
    WorkIndex places;
    NCCLCHECK(DescribeWorks(*comm, plan, &places, &captured));
    DescribeBatches(*comm, plan, places, &captured);
    for (ncclProxyOp* op = ncclIntruQueueHead(&plan->proxyOpQueue); op != nullptr;
         op = op->enqNext) {
      captured.proxy_ops.push_back(Describe(*op));
    }
  }
  captured.kernels += 1;
  return ncclSuccess;
}

}  // namespace drydock
