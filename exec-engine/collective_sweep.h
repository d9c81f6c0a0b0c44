// The calls nccl-tests would make for a range of sizes, and the figures it prints for one.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_SWEEP_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_SWEEP_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

struct Sweep {
  CollectiveType collective = CollectiveType::kAllReduce;
  DataType type = DataType::kFp32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;  // member index
  int group_size = 0;
  Bytes smallest, largest;
  int64_t factor = 2;  // from size to size; 1: `increment` is added instead
  Bytes increment;
};

// One line of the table.
struct SweepSize {
  Bytes size;         // of the larger of the two buffers
  int64_t count = 0;  // elements, as the NCCL function counts
  CommCall call;      // call.count is 0 where the size is too small for every rank to have a part
};

// As nccl-tests has it (GetCollByteCount in its sources): collectives whose buffer has a part for
// each rank cut the parts to multiples of 16 B.
std::vector<SweepSize> SizesOf(const Sweep& sweep);

// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
double BusFactor(CollectiveType collective, int group_size);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_SWEEP_H_
