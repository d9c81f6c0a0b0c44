// Records what NCCL's tuner weighed: its table of predicted times, and why it excludes a choice.
// The reasons follow ncclTopoTuneModel (graph/tuning.cc) and updateCollCostTable (enqueue.cc).
#include "comm.h"
#include "device.h"
#include "enqueue.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "topo.h"

extern int64_t ncclParamPatEnable();

namespace drydock {
namespace {

static_assert(HACKNCCL_ALGORITHMS == NCCL_NUM_ALGORITHMS);
static_assert(HACKNCCL_PROTOCOLS == NCCL_NUM_PROTOCOLS);

bool IsGatherOrScatter(ncclFunc_t function) {
  return function == ncclFuncAllGather || function == ncclFuncReduceScatter;
}
bool IsCollNet(int algorithm) {
  return algorithm == NCCL_ALGO_COLLNET_DIRECT || algorithm == NCCL_ALGO_COLLNET_CHAIN;
}
bool IsNvls(int algorithm) {
  return algorithm == NCCL_ALGO_NVLS || algorithm == NCCL_ALGO_NVLS_TREE;
}

bool HasKernel(ncclFunc_t function, int algorithm, int protocol) {
  const bool simple_only = algorithm != NCCL_ALGO_RING && algorithm != NCCL_ALGO_TREE;
  if (simple_only && protocol != NCCL_PROTO_SIMPLE) return false;
  if (function == ncclFuncAllReduce) return algorithm != NCCL_ALGO_PAT;
  if (IsGatherOrScatter(function)) {
    return algorithm == NCCL_ALGO_PAT || algorithm == NCCL_ALGO_RING ||
           algorithm == NCCL_ALGO_NVLS || algorithm == NCCL_ALGO_COLLNET_DIRECT;
  }
  return algorithm == NCCL_ALGO_RING;
}

// Returns why NCCL's model gives the choice no bandwidth.
const char* WhyNotOffered(const ncclComm& comm, ncclFunc_t function, int algorithm, int protocol) {
  if (IsCollNet(algorithm) && !comm.config.collnetEnable) return "no in-network reduction";
  if (algorithm == NCCL_ALGO_NVLS_TREE && comm.nNodes == 1) return "needs several hosts";
  if (algorithm == NCCL_ALGO_NVLS && comm.nNodes > 1 && !comm.config.collnetEnable) {
    return "over several hosts it needs in-network reduction";
  }
  if (IsNvls(algorithm) && !comm.nvlsSupport) return "no NVLink SHARP among these GPUs";
  if (algorithm == NCCL_ALGO_PAT && ncclParamPatEnable() == 2 && comm.nNodes != comm.nRanks) {
    return "needs one GPU per host";
  }
  if (protocol == NCCL_PROTO_LL128 && comm.minCompCap != comm.maxCompCap) {
    return "GPUs of different kinds";
  }
  const ncclTopoGraph& graph = comm.graphs[algorithm];
  if (protocol == NCCL_PROTO_LL128 && graph.typeIntra > PATH_NVB) return "GPUs without NVLink";
  const int farthest = comm.minCompCap >= 90 ? PATH_PXN : PATH_PXB;
  if (protocol == NCCL_PROTO_LL128 && graph.typeInter > farthest) return "NICs too far from GPUs";
  return IsGatherOrScatter(function) && IsNvls(algorithm) && comm.nNodes > 1
             ? "more GPUs per host than heads"
             : "turned off by a setting, or without bandwidth here";
}

const char* WhyNot(const ncclComm& comm, const ncclTaskColl& task, int algorithm, int protocol) {
  if (!HasKernel(task.func, algorithm, protocol)) return "no such kernel";
  if (comm.bandwidths[task.func][algorithm][protocol] == 0) {
    return WhyNotOffered(comm, task.func, algorithm, protocol);
  }
  if (IsCollNet(algorithm) && comm.maxLocalRanks > NCCL_MAX_DIRECT_ARITY + 1) {
    return "too many GPUs per host";
  }
  return "not for this operation and data type";
}

}  // namespace

void NoteDecision(const ncclComm* comm, const ncclTaskColl* task, size_t bytes, int calls,
                  const float* times) {
  hacknccl_decision decision = {};
  decision.function = task->func;
  decision.calls_per_channel = calls;
  decision.bytes = bytes;
  decision.algorithm = decision.protocol = -1;
  double fastest = 0;
  for (int a = 0; a < NCCL_NUM_ALGORITHMS; ++a) {
    for (int p = 0; p < NCCL_NUM_PROTOCOLS; ++p) {
      const float time = times[a * NCCL_NUM_PROTOCOLS + p];
      hacknccl_estimate& estimate = decision.estimates[a][p];
      estimate.time_us = time;
      estimate.latency_us = comm->latencies[task->func][a][p];
      estimate.bandwidth_gbps = comm->bandwidths[task->func][a][p];
      estimate.why_not = time < 0 ? WhyNot(*comm, *task, a, p) : "";
      if (time < 0 || (decision.algorithm != -1 && time >= fastest)) continue;
      fastest = time;
      decision.algorithm = a;
      decision.protocol = p;
    }
  }
  if (decision.algorithm != -1) {
    decision.channels_at_most = IsNvls(decision.algorithm) ? comm->nvlsChannels : comm->nChannels;
    decision.threads_at_most = comm->maxThreads[decision.algorithm][decision.protocol];
  }
  CurrentLaunch().plan.decisions.push_back(decision);
}

}  // namespace drydock
