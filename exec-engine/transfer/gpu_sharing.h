// Compute ops of one GPU beside NCCL's kernels. Those keep SMs to themselves while they run, and
// move data through the GPU's memory. So of a compute op
//   - the kernels that tensor cores bound have the SMs that are left, and slow down as much;
//   - the kernels that memory bounds have the bandwidth that is left: all but what the calls take,
//     and no less than an even share (max-min fair);
//   - the rest goes on as before.
// An op is as fast as its kernels are on average. A GPU may be slow as a whole, for a time.
// Whenever something of this changes, what is left of the ops that run is worked out anew.
//
// One per rank; not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/model/gpu.h"
#include "exec-engine/transfer/kernel_load.h"

namespace drydock {

class GpuSharing {
 public:
  explicit GpuSharing(const GpuSpec& gpu)
      : sms_(gpu.sms), memory_(static_cast<double>(gpu.memory_bandwidth.bits_per_second())) {}

  struct Work {
    uint32_t op = 0;
    Time duration;                              // of its kernels with the GPU to themselves
    double tensor_share = 0, memory_share = 0;  // of the duration, by what bounds the kernels
    Time earliest_end;                          // for the host's sake (launch_queue.h)
  };
  struct End {
    uint32_t op = 0;
    Time end;
    Time late;  // of the time until then, how long it waits for launches
  };

  End Begin(const Work& work, Time now);
  void Finish(uint32_t op);

  // A call's kernel begins to run, or has run. Returns the ops that run and now end at other times;
  // valid until the next call.
  const std::vector<End>& Add(const KernelLoad& load, Time now);
  const std::vector<End>& Remove(const KernelLoad& load, Time now);
  // All compute takes `slowdown` times as long from now on.
  const std::vector<End>& SlowDown(double slowdown, Time now);

 private:
  struct Running {
    Work work;
    Time since;
    double left_ps = 0;  // of its duration, from `since` on
    double slowdown = 1;
  };

  double SlowdownOf(const Work& work) const {
    return slowdown_ * (1 + work.tensor_share * for_sms_ + work.memory_share * for_memory_);
  }
  End EndOf(const Running& running) const;
  void Weigh();
  const std::vector<End>& Change(Time now);

  const int sms_;
  const double memory_;  // bits/s
  int calls_ = 0;
  double sms_taken_ = 0;
  Bandwidth memory_taken_;
  double slowdown_ = 1;
  double for_sms_ = 0, for_memory_ = 0;  // how much longer what is bound by them takes
  std::vector<Running> running_;
  std::vector<End> changed_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_
