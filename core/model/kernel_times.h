// How long each distinct submodule takes on each GPU type of the cluster. Made by compute-sim.
// Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_KERNEL_TIMES_H_
#define DRYDOCK_CORE_MODEL_KERNEL_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace drydock {

enum class TimeSource : uint8_t {
  kProfile,  // a measured row, or between measured rows
  kModel,    // the GPU's calibrated kernel model
  kScaled,   // a calibrated GPU's time, by the FLOPS or bandwidth ratio
  kGiven,    // of an imported workload: as stated, or FLOPs and bytes at peak rates
};
inline constexpr int kTimeSourceCount = 4;
const std::vector<std::string>& TimeSourceNames();  // "profile", "model", "scaled", "given"

// What decides the time of a kernel.
enum class KernelBound : uint8_t {
  kTensorCores,
  kMemory,
  kLaunch,
  kCompute,   // of an imported kernel: the FLOPs that it states
  kMeasured,  // not known, because no model answers for the measured kernel
  kGiven,     // not known, because the workload states the time
};
inline constexpr int kKernelBoundCount = 6;
const std::vector<std::string>& KernelBoundNames();
std::string_view ToString(KernelBound bound);

struct KernelTime {
  std::string name;   // "gemm"
  std::string shape;  // "8192x2304x6144 fp16"
  Time time;
  KernelBound bound = KernelBound::kMeasured;
  TimeSource source = TimeSource::kModel;
  std::string detail;  // which row, parameter set or law
  // The distance to the nearest measured row of the kernel and type, as the largest ratio of two
  // extents. 1: the row itself; 0: no row was measured. If the source is not kProfile and the
  // distance is above 1, the nearest row was too far away to use.
  double row_distance = 0;
  // Of a scaled time: the mean error of the same scaling between two measured GPUs, as a share of
  // the time. 0: not known.
  double expected_error = 0;
  // This is not a kernel but a gap between kernels of the submodule. The host does not launch it.
  bool gap = false;
  // What it computes, and its memory traffic if every operand moves once. Both 0: not known.
  double flops = 0, bytes = 0;
  // Launches by which the host starts it. `looped` more come from a loop over experts, at
  // HostLaunch::expert each.
  int launches = 1, looped = 0;
};

// A bound of both.
inline constexpr int kMaxLaunches = 1 << 20;

struct SubmoduleTime {
  Time total;
  std::vector<KernelTime> kernels;
};

struct GpuKernelTimes {
  std::string gpu;
  std::vector<SubmoduleTime> submodules;  // by Workload::submodules index
};

struct KernelTimes {
  std::vector<GpuKernelTimes> gpus;             // by Topology::gpus index
  int64_t source_count[kTimeSourceCount] = {};  // kernels by source
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_KERNEL_TIMES_H_
