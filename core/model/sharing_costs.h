// What NCCL's kernels take from the compute beside them on a GPU (docs/explanation/collectives.md).
#ifndef DRYDOCK_CORE_MODEL_SHARING_COSTS_H_
#define DRYDOCK_CORE_MODEL_SHARING_COSTS_H_

#include <string>

namespace drydock {

struct SharingCosts {
  double channel_sms = 0;     // SMs that a channel's thread block keeps from other kernels
  double staged_traffic = 0;  // bytes of memory traffic for each byte that passes NCCL's buffers
  std::string source;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SHARING_COSTS_H_
