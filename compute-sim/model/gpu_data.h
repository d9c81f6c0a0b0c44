// All data of a GPU type, and its calibrated kernel models.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_GPU_DATA_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_GPU_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"
#include "compute-sim/kernel/roofline.h"
#include "compute-sim/profile/profile.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"

namespace drydock {

// Owns its data; immutable once made.
struct GpuData {
  GpuSpec spec;
  bool calibrated = false;                    // has a `kernels:` section
  KernelParameters parameters;                // if calibrated
  GpuLimits limits;                           // that the run's hosts set; `parameters` keep them
  std::optional<KernelParameters> unlimited;  // without `limits`; if calibrated and `limits` is any
  std::vector<ProfilePtr> profiles;           // rows measured on it
  AssumedShares chunk_products;               // of configs/kernels.yaml
  AssumedShares sparse_products;              // the same
  std::string attention_library;              // as KernelParameters::AttentionFor takes it

  GpuShape shape() const { return {spec.sms, spec.l2}; }
  // REQUIRES: HasAssumedRate(kind).
  const AssumedShares& SharesOf(KernelKind kind) const {
    return kind == KernelKind::kChunkProduct ? chunk_products : sparse_products;
  }
};

// The calibrated model's answer; nullopt if `gpu` has no parameters for the kernel.
std::optional<Prediction> PredictCalibrated(const GpuData& gpu, const Kernel& kernel);
// The same at the clocks at which the profile's rows were measured, without limits of hosts.
std::optional<Prediction> PredictAsProfiled(const GpuData& gpu, const Profile& profile,
                                            const Kernel& kernel);

// The time of a measured row in this run: as measured, unless the row was measured at burst clocks
// or contains a quantization, or the run's hosts limit the GPU, and the GPU is calibrated. Then the
// measured time is multiplied by the ratio of the model's answers for this run and for the row.
double RowUs(const GpuData& gpu, const Profile& profile, const RowRef& row, const Kernel& kernel);

// The distance of the nearest row in any profile of the GPU (FindNearest); 0 if no row of the
// kernel and type was measured.
double RowDistance(const GpuData& gpu, const Kernel& kernel);

// A model's answer as a time; at most kLongestKernel, which ModelStack refuses.
Time TimeOfUs(double us);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_GPU_DATA_H_
