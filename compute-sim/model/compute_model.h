// The seam between kernels and their times. A ComputeModel answers for one GPU type; the choices
// (ComputeModelChoices) are tried in the order the user gives, and the answer says which spoke.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"
#include "compute-sim/kernel/roofline.h"
#include "compute-sim/profile/profile.h"
#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/kernel_times.h"

namespace drydock {

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;

  // - Depends on the kernel and the model's GPU only: same kernel, same answer.
  // - nullopt: this model cannot say; the next one is asked.
  // - Never a guess: what is neither measured nor calibrated is left to the next one.
  virtual std::optional<KernelTime> Predict(const Kernel& kernel) const = 0;
  // Why Predict gave nothing, for the user: "no row in 2 profiles".
  virtual std::string WhyNot(const Kernel& kernel) const = 0;
};

// A GPU type with everything known of it. Owns its data; immutable once made.
struct GpuData {
  GpuSpec spec;
  bool calibrated = false;           // has a `kernels:` section
  KernelParameters parameters;       // if calibrated
  std::vector<ProfilePtr> profiles;  // rows measured on it
  std::string attention_library;     // as KernelParameters::AttentionFor takes it

  GpuShape shape() const { return {spec.sms, spec.l2}; }
};

struct ModelContext {
  const GpuData* gpu = nullptr;
  const GpuData* reference = nullptr;  // null if the GPU names none
};

struct ComputeModelChoice {
  std::string name;
  std::string summary;
  TimeSource source;
  std::unique_ptr<ComputeModel> (*make)(const ModelContext& context);
};
// In the default order.
const std::vector<ComputeModelChoice>& ComputeModelChoices();
std::vector<std::string> ComputeModelNames();
// An error that lists the names, the nearest first, if there is none of that name.
Result<const ComputeModelChoice*> FindComputeModel(const std::string& name);

std::unique_ptr<ComputeModel> MakeProfileModel(const ModelContext& context);
std::unique_ptr<ComputeModel> MakeRooflineModel(const ModelContext& context);
std::unique_ptr<ComputeModel> MakeScaledModel(const ModelContext& context);

// `to` as if it were calibrated: the parameters of `from`, which is, changed by the ratio of the
// specifications (scaled_parameters.h).
Result<GpuData> AsIfCalibrated(const GpuData& to, const GpuData& from);

// The calibrated model's answer; nullopt if `gpu` has no parameters for that kernel.
std::optional<Prediction> PredictCalibrated(const GpuData& gpu, const Kernel& kernel);
// The same at the clocks the profile's rows were measured at.
std::optional<Prediction> PredictAsProfiled(const GpuData& gpu, const Profile& profile,
                                            const Kernel& kernel);
// A row's time in this run: as measured; on a GPU with parameters by the ratio of what the model
// says of this run and of the row, which may be at burst clocks or contain a quantisation.
double RowUs(const GpuData& gpu, const Profile& profile, const RowRef& row, const Kernel& kernel);
// What a model says as a time; at most kLongestKernel, which ModelStack refuses.
Time TimeOfUs(double us);
// How far the nearest row in any profile of the GPU is (FindNearest); 0 if none was measured.
double RowDistance(const GpuData& gpu, const Kernel& kernel);

// The chosen models of one GPU type, in order.
class ModelStack {
 public:
  // `order` holds names of ComputeModelChoices; an unknown one is an error with the nearest.
  static Result<ModelStack> Make(const ModelContext& context,
                                 const std::vector<std::string>& order);

  // The first model's answer that has one; an error that gives each one's reason otherwise, or that
  // says that the kernel is too large for any GPU.
  Result<KernelTime> Predict(const Kernel& kernel) const;

 private:
  struct Entry {
    const ComputeModelChoice* choice;
    std::unique_ptr<ComputeModel> model;
  };
  ModelContext context_;
  std::vector<Entry> entries_;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_
