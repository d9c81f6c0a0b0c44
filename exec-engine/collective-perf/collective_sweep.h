// The calls nccl-tests would make for a range of sizes, and the figures it prints for one.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Each type with each reduction or root, as far as the collective has one, over all sizes.
struct Sweep {
  CollectiveType collective = CollectiveType::kAllReduce;
  std::vector<DataType> types = {DataType::kFp32};
  std::vector<ReduceOp> ops = {ReduceOp::kSum};
  std::vector<int> roots = {0};  // member indices
  BufferKind buffers = BufferKind::kPlain;
  int group_size = 0;
  Bytes smallest, largest;
  int64_t factor = 2;  // from size to size; 1: `increment` is added instead
  Bytes increment;
  // All-to-all-v: how much each member sends to each (pair_weights.h).
  std::vector<int64_t> weights = {};
};

// One line of the table.
struct SweepSize {
  Bytes size;         // of the larger of the two buffers
  int64_t count = 0;  // elements, as the NCCL function counts
  CommCall call;      // call.count is 0 where the size is too small for every rank to have a part
  double bus_factor = 1;  // bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md)
};

// As nccl-tests has it (GetCollByteCount in its sources): collectives whose buffer has a part for
// each rank cut the parts to multiples of 16 B. A send-recv is that of its sendrecv_perf: everybody
// sends to the next and receives from the one before, the last to the first.
std::vector<SweepSize> SizesOf(const Sweep& sweep);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_
