// Steps of the PAT algorithm, from the class that the device kernels run (NCCL's collectives.h).
#include "simccl/hacknccl/launch/pat.h"

#include <cstdint>
#include <map>

#include "collectives.h"
#include "device.h"

namespace drydock {
namespace {

struct Part {
  size_t offset = 0, count = 0, chunk = 0;  // elements
};

Part PartOf(const hacknccl_collective& work, int channel) {
  const auto elements = [&work](uint64_t bytes) { return bytes / work.element_bytes; };
  if (channel == work.channel_lo) return {0, work.count_lo, elements(work.chunk_lo)};
  const size_t before =
      work.count_lo + work.count_mid * static_cast<size_t>(channel - work.channel_lo - 1);
  if (channel == work.channel_hi) return {before, work.count_hi, elements(work.chunk_hi)};
  return {before, work.count_mid, elements(work.chunk_mid)};
}

// Follows the message counters of the kernel's peers (prims_simple.h, patReduce and patCopy). A
// step may use a message after the next one of a direction.
class Tracker {
 public:
  Tracker(bool gathers, int rank, int ranks) : gathers_(gathers), rank_(rank), ranks_(ranks) {}

  void Add(const ncclPatStep& step, std::vector<hacknccl_pat_step>* out) {
    if (step.flags & PatSkipped) return;
    hacknccl_pat_step described = {-1, -1, 0, 0, 0, 0, 0, 0};
    described.elements = step.nelem > 0 ? static_cast<uint64_t>(step.nelem) : 0;
    described.offset = gathers_ ? step.outIx : step.inpIx;
    if (step.recvDim >= 0) {
      described.recv_peer = Peer(step.recvDim, gathers_ ? 1 : -1);
      described.recv_message = received_[step.recvDim] + (gathers_ ? step.stepOffset : 0);
      described.recv_at = static_cast<uint64_t>(step.recvOffset);
      if (step.postRecv) ++received_[step.recvDim];
    }
    if (step.sendDim >= 0) {
      described.send_peer = Peer(step.sendDim, gathers_ ? -1 : 1);
      described.send_message = sent_[step.sendDim] + (gathers_ ? 0 : step.stepOffset);
      described.send_at = static_cast<uint64_t>(step.sendOffset);
      if (step.postSend) ++sent_[step.sendDim];
    }
    out->push_back(described);
  }

 private:
  int Peer(int dimension, int direction) const {
    return (rank_ + direction * (1 << dimension) + ranks_) % ranks_;
  }
  const bool gathers_;
  const int rank_, ranks_;
  int received_[32] = {}, sent_[32] = {};
};

template <template <typename> class Algorithm, typename T>
std::vector<hacknccl_pat_step> Run(const hacknccl_collective& work, int channel, int rank,
                                   int ranks) {
  const Part part = PartOf(work, channel);
  Algorithm<T> algorithm(static_cast<int>(part.chunk * sizeof(T)), NCCL_STEPS,
                         NCCL_PAT_NWORKERS / WARP_SIZE, part.offset, part.offset + part.count,
                         work.count, static_cast<int>(part.chunk), rank, ranks);
  Tracker tracker(work.function == HACKNCCL_ALL_GATHER, rank, ranks);
  std::vector<hacknccl_pat_step> steps;
  ncclPatStep step = {};
  do {
    step = {};
    algorithm.getNextOp(&step);
    tracker.Add(step, &steps);
  } while (step.last != 2 && steps.size() <= kMaxPatSteps);
  return steps;
}

}  // namespace

std::vector<hacknccl_pat_step> PatSteps(const hacknccl_collective& work, int channel, int rank,
                                        int ranks) {
  if (work.function == HACKNCCL_ALL_GATHER) {
    return Run<PatAGAlgorithm, uint8_t>(work, channel, rank, ranks);  // gathers bytes
  }
  switch (work.element_bytes) {
    case 1:
      return Run<PatRSAlgorithm, uint8_t>(work, channel, rank, ranks);
    case 2:
      return Run<PatRSAlgorithm, uint16_t>(work, channel, rank, ranks);
    case 4:
      return Run<PatRSAlgorithm, uint32_t>(work, channel, rank, ranks);
    default:
      return Run<PatRSAlgorithm, uint64_t>(work, channel, rank, ranks);
  }
}

}  // namespace drydock
