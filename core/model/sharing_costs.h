// What NCCL's kernels take from concurrent compute on a GPU (docs/explanation/collectives.md).
#ifndef DRYDOCK_CORE_MODEL_SHARING_COSTS_H_
#define DRYDOCK_CORE_MODEL_SHARING_COSTS_H_

#include <string>

namespace drydock {

struct SharingCosts {
  double channel_sms = 0;     // SMs that a channel's thread block occupies
  double staged_traffic = 0;  // bytes of memory traffic per byte through NCCL's buffers
  std::string source;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SHARING_COSTS_H_
