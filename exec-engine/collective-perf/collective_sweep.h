// The calls that nccl-tests makes for a range of sizes.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// All sizes for each type and, if the collective has them, for each reduction and each root.
struct Sweep {
  CollectiveType collective = CollectiveType::kAllReduce;
  std::vector<DataType> types = {DataType::kFp32};
  std::vector<ReduceOp> ops = {ReduceOp::kSum};
  std::vector<int> roots = {0};  // member indices
  BufferKind buffers = BufferKind::kPlain;
  int group_size = 0;
  Bytes smallest, largest;
  int64_t factor = 2;  // from one size to the next; 1: adds `increment`
  Bytes increment;
  // All-to-all-v: what each member sends to each member (pair_weights.h).
  std::vector<int64_t> weights = {};
};

// One line of the table.
struct SweepSize {
  Bytes size;             // of the larger of the two buffers
  int64_t count = 0;      // elements, as the NCCL function counts
  CommCall call;          // call.count is 0 if the size is too small for a part of each rank
  double bus_factor = 1;  // bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md)
};

// Returns an error if the sweep has more than kMaxRows lines; the message says which increment has
// fewer. Roots that are not known yet count as one.
inline constexpr int64_t kMaxRows = 10000;
Status CheckSweepLength(const Sweep& sweep);

// As nccl-tests does (GetCollByteCount in its sources): collectives whose buffer has a part for
// each rank cut the parts to multiples of 16 B. A send-recv is that of sendrecv_perf: each member
// sends to the next one, the last to the first.
std::vector<SweepSize> SizesOf(const Sweep& sweep);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_SWEEP_H_
