#include "compute-sim/submodules/stated_time.h"

#include <fmt/format.h>

#include "core/base/check.h"

namespace drydock {
namespace {

Error Refusal(const Submodule& s, const GpuSpec& gpu, const std::string& why) {
  return Error(fmt::format("submodule '{}': {} {}", s.name, gpu.name, why), {gpu.file_name, 0, 0});
}

Result<KernelTime> Roofline(const Submodule& s, const GpuSpec& gpu) {
  const double rate = gpu.RateOf(s.type).flops_per_second();
  if (s.flops > 0 && rate == 0) {
    return Refusal(s, gpu, fmt::format("states no {} rate", ToString(s.type)));
  }
  const double compute = s.flops > 0 ? s.flops / rate : 0;
  const double memory =
      static_cast<double>(s.bytes.count()) / gpu.memory_bandwidth.bytes_per_second();
  const bool by_compute = compute >= memory;
  const double seconds = by_compute ? compute : memory;
  if (!(seconds < submodule::kLongestFixedDuration.seconds())) {
    return Refusal(s, gpu, fmt::format("would take {:.3g} hours for it", seconds / 3600));
  }
  KernelTime time;
  time.name = s.name;
  time.shape = fmt::format("{:.4g} FLOP {}, {}", s.flops, ToString(s.type), ToString(s.bytes));
  time.time = Time::FromSeconds(seconds);
  time.bound = by_compute ? KernelBound::kCompute : KernelBound::kMemory;
  time.source = TimeSource::kGiven;
  time.flops = s.flops;
  time.bytes = static_cast<double>(s.bytes.count());
  time.detail = by_compute ? fmt::format("100 % of {}", ToString(FlopRate(rate)))
                           : fmt::format("100 % of {}", ToString(gpu.memory_bandwidth));
  return time;
}

}  // namespace

Result<SubmoduleTime> StatedTime(const Submodule& submodule, const GpuSpec& gpu) {
  CHECK(submodule.has_stated_time());
  SubmoduleTime time;
  if (const auto* fixed = submodule.As<submodule::FixedDuration>()) {
    time.kernels.push_back({submodule.name, "", fixed->duration, KernelBound::kGiven,
                            TimeSource::kGiven, "stated by the workload"});
  } else {
    ASSIGN_OR_RETURN(const KernelTime kernel, Roofline(submodule, gpu));
    time.kernels.push_back(kernel);
  }
  time.total = time.kernels.front().time;
  return time;
}

}  // namespace drydock
