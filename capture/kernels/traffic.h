// Kernels that are known by the bytes that their operator moves: it reads its inputs and writes its
// outputs, once.
#ifndef DRYDOCK_CAPTURE_KERNELS_TRAFFIC_H_
#define DRYDOCK_CAPTURE_KERNELS_TRAFFIC_H_

#include <cstdint>
#include <span>
#include <vector>

#include "capture/kernels/operator.h"
#include "core/model/submodule.h"

namespace drydock::capture {

// What all launches of an operator read and write.
Bytes TrafficOf(const OperatorRange& range, const OperatorValues& outputs);
// Deals an operator's traffic out to its launches, of which `blocks` has the thread blocks. Where
// several tensors are worked on, each launch has its part. Otherwise each launch of the largest
// grid goes over all tensors.
std::vector<Bytes> DealOut(const OperatorRange& range, Bytes traffic,
                           std::span<const int64_t> blocks);
// A kernel that moves this many bytes; of none, it only starts.
Submodule TrafficSubmodule(Bytes traffic, bool is_backward);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_TRAFFIC_H_
