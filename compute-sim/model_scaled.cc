// `scaled`: two laws for a GPU (or a data type) that nobody measured. What the kernel takes on a
// calibrated GPU, less its launch, is divided
//   - by the ratio of dense FLOPS, if arithmetic bounds it there,
//   - by the ratio of memory bandwidth, if traffic does.
// A type the GPU's own parameters lack is scaled in the same way from a type they have.
#include <fmt/format.h>

#include "compute-sim/compute_model.h"

namespace drydock {
namespace {

// The type to take instead, for arithmetic: 16 bit is what every GPU is calibrated for.
constexpr DataType kUsualType = DataType::kFp16;

struct Source {
  const GpuData* gpu = nullptr;
  Kernel kernel;
};

class ScaledModel : public ComputeModel {
 public:
  explicit ScaledModel(const ModelContext& context) : context_(context) {}

  std::optional<KernelTime> Predict(const Kernel& kernel) const override {
    if (!Supports(*context_.gpu, kernel)) return std::nullopt;
    const std::optional<Source> source = FindSource(kernel);
    if (!source.has_value()) return std::nullopt;
    const Prediction there = *PredictCalibrated(*source->gpu, source->kernel);
    const bool compute = there.bound == Bound::kTensorCores;
    const double ratio = compute ? FlopsRatio(*source, kernel) : BandwidthRatio(*source);
    KernelTime time;
    time.time =
        Time::FromUs(there.fixed_us + (MeasuredUs(*source, there) - there.fixed_us) / ratio);
    time.bound = BoundName(there);
    time.detail = fmt::format(
        "{}{} by {} ratio {:.3f}", source->gpu->spec.name,
        source->kernel.type == kernel.type ? "" : fmt::format(" {}", ToString(source->kernel.type)),
        compute ? "FLOPS" : "bandwidth", ratio);
    return time;
  }

  std::string WhyNot(const Kernel& kernel) const override {
    const GpuSpec& spec = context_.gpu->spec;
    if (!Supports(*context_.gpu, kernel)) {
      return fmt::format("{} states no {} rate", spec.file_name, ToString(kernel.type));
    }
    if (context_.reference == nullptr) {
      return fmt::format("{} names no 'reference:'", spec.file_name);
    }
    return fmt::format("its reference '{}' has no 'kernels:' for it",
                       context_.reference->spec.name);
  }

 private:
  static double Rate(const GpuData& gpu, DataType type) {
    return gpu.spec.dense_rate[static_cast<size_t>(type)].flops_per_second();
  }

  static bool Supports(const GpuData& gpu, const Kernel& kernel) {
    return IsMemoryKernel(kernel.kind) || Rate(gpu, kernel.type) > 0;
  }

  // The reference in the same type, then in the usual one, then this GPU in the usual one.
  std::optional<Source> FindSource(const Kernel& kernel) const {
    const Kernel usual = Resized(kernel, kUsualType, kernel.dims);
    for (const GpuData* gpu : {context_.reference, context_.gpu}) {
      if (gpu == nullptr) continue;
      for (const Kernel& candidate : {kernel, usual}) {
        // Its own time in its own type is no scaling.
        const bool same = IsMemoryKernel(kernel.kind) || candidate.type == kernel.type;
        if (gpu == context_.gpu && same) continue;
        if (Supports(*gpu, candidate) && PredictCalibrated(*gpu, candidate).has_value()) {
          return Source{gpu, candidate};
        }
      }
    }
    return std::nullopt;
  }

  double FlopsRatio(const Source& source, const Kernel& kernel) const {
    return Rate(*context_.gpu, kernel.type) / Rate(*source.gpu, source.kernel.type);
  }

  double BandwidthRatio(const Source& source) const {
    return context_.gpu->spec.memory_bandwidth.bytes_per_second() /
           source.gpu->spec.memory_bandwidth.bytes_per_second();
  }

  // A row measured on the reference comes before its model.
  static double MeasuredUs(const Source& source, const Prediction& modelled) {
    for (const ProfilePtr& profile : source.gpu->profiles) {
      const std::optional<RowRef> row = FindRow(*profile, source.kernel);
      if (!row.has_value()) continue;
      const double us = RowUs(*source.gpu, *profile, *row, source.kernel);
      if (us > modelled.fixed_us) return us;
    }
    return modelled.us;
  }

  const ModelContext context_;
};

}  // namespace

std::unique_ptr<ComputeModel> MakeScaledModel(const ModelContext& context) {
  return std::make_unique<ScaledModel>(context);
}

}  // namespace drydock
