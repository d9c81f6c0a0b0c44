// Compute ops of one GPU that run at the same time as the kernels of calls. Such a kernel keeps SMs
// to itself while it runs, and moves data through the GPU's memory. So, of a compute op,
//   - kernels bound by tensor cores have the remaining SMs, and slow down accordingly;
//   - kernels bound by memory have the bandwidth that the calls leave, but no less than an even
//     share (max-min fair);
//   - other kernels keep their speed.
// An op is as fast as its kernels are on average. In addition, the whole GPU may be slow for some
// time. At each change, the remaining duration of all running ops is computed again.
//
// One per rank; not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/model/gpu.h"
#include "core/network/relative_state.h"
#include "exec-engine/transfer/kernel_load.h"

namespace drydock {

class GpuSharing {
 public:
  explicit GpuSharing(const GpuSpec& gpu)
      : sms_(gpu.sms), memory_(static_cast<double>(gpu.memory_bandwidth.bits_per_second())) {}

  struct Work {
    uint32_t op = 0;
    Time duration;                              // of its kernels with the GPU to themselves
    double tensor_share = 0, memory_share = 0;  // of the duration, by the bound of the kernels
    Time earliest_end;                          // because of launches (launch_queue.h)
  };
  struct End {
    uint32_t op = 0;
    Time end;
    Time late;  // part of the time until `end` in which it waits for launches
  };

  End Begin(const Work& work, Time now);
  void Finish(uint32_t op);

  // The kernel of a call starts, or has ended. Both return the running ops whose ends change. The
  // result is valid until the next call of a function.
  const std::vector<End>& Add(const KernelLoad& load, Time now);
  const std::vector<End>& Remove(const KernelLoad& load, Time now);
  // From now on, all compute takes `slowdown` times as long. Returns as Add does.
  const std::vector<End>& SlowDown(double slowdown, Time now);

  void AppendState(int rank, RelativeState* out) const;

 private:
  struct Running {
    Work work;
    Time since;
    double left_ps = 0;  // of its duration at `since`
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
  double for_sms_ = 0, for_memory_ = 0;  // added to the slowdown of kernels with this bound
  std::vector<Running> running_;
  std::vector<End> changed_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_GPU_SHARING_H_
