#include "exec-engine/transfer/gpu_sharing.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace drydock {

GpuSharing::End GpuSharing::EndOf(const Running& running) const {
  const Time done = running.since + Time::Ps(std::llround(running.left_ps * running.slowdown));
  const Time end = std::max(done, running.work.earliest_end);
  return {running.work.op, end, end - done};
}

GpuSharing::End GpuSharing::Begin(const Work& work, Time now) {
  running_.push_back({work, now, static_cast<double>(work.duration.ps()), SlowdownOf(work)});
  return EndOf(running_.back());
}

void GpuSharing::Finish(uint32_t op) {
  std::erase_if(running_, [op](const Running& running) { return running.work.op == op; });
}

const std::vector<GpuSharing::End>& GpuSharing::Add(const KernelLoad& load, Time now) {
  ++calls_;
  sms_taken_ += load.sms;
  memory_taken_ =
      Bandwidth::BitsPerSecond(memory_taken_.bits_per_second() + load.memory.bits_per_second());
  return Change(now);
}

const std::vector<GpuSharing::End>& GpuSharing::Remove(const KernelLoad& load, Time now) {
  CHECK(calls_ > 0);
  --calls_;
  sms_taken_ = calls_ == 0 ? 0 : sms_taken_ - load.sms;
  memory_taken_ =
      Bandwidth::BitsPerSecond(memory_taken_.bits_per_second() - load.memory.bits_per_second());
  return Change(now);
}

const std::vector<GpuSharing::End>& GpuSharing::SlowDown(double slowdown, Time now) {
  slowdown_ = slowdown;
  return Change(now);
}

void GpuSharing::AppendState(int rank, RelativeState* out) const {
  out->Add(calls_);
  out->AddReal(sms_taken_);
  out->Add(memory_taken_.bits_per_second());
  out->AddReal(slowdown_);
  out->Add(static_cast<int64_t>(running_.size()));
  for (const Running& running : running_) {
    out->AddOp(rank, running.work.op);
    out->AddFree(running.work.earliest_end);
    out->AddTime(running.since);
    out->AddReal(running.left_ps);
    out->AddReal(running.slowdown);
  }
}

void GpuSharing::Weigh() {
  for_sms_ = for_memory_ = 0;
  if (calls_ == 0) return;
  if (sms_ > 0) for_sms_ = sms_ / std::max(sms_ - sms_taken_, 1.0) - 1;
  if (memory_ <= 0) return;
  const double left = 1 - static_cast<double>(memory_taken_.bits_per_second()) / memory_;
  for_memory_ = 1 / std::max(left, 1.0 / (1 + calls_)) - 1;
}

const std::vector<GpuSharing::End>& GpuSharing::Change(Time now) {
  Weigh();
  changed_.clear();
  for (Running& running : running_) {
    const double slowdown = SlowdownOf(running.work);
    if (slowdown == running.slowdown) continue;
    const double passed = static_cast<double>((now - running.since).ps());
    running.left_ps = std::max(0.0, running.left_ps - passed / running.slowdown);
    running.since = now;
    running.slowdown = slowdown;
    changed_.push_back(EndOf(running));
  }
  return changed_;
}

}  // namespace drydock
