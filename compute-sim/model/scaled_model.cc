#include "compute-sim/model/scaled_model.h"

#include <fmt/format.h>

#include "compute-sim/model/gpu_data.h"
#include "compute-sim/model/scaled_parameters.h"
#include "compute-sim/model/scaling_facts.h"

namespace drydock {
namespace {

// Stands in for a type that the calibrated GPU has no parameters of: every GPU is calibrated for
// 16 bits.
constexpr DataType kUsualType = DataType::kFp16;

class ScaledModel : public ComputeModel {
 public:
  explicit ScaledModel(const ModelContext& context) : context_(context), from_(SourceOf(context)) {
    if (from_ == nullptr) return;
    Result<GpuData> scaled = AsIfCalibrated(*context.gpu, *from_);
    if (scaled.ok()) {
      scaled_ = *std::move(scaled);
      to_facts_ = *ReadScalingFacts(scaled_.spec.file_text, scaled_.spec.file_name);
      from_facts_ = *ReadScalingFacts(from_->spec.file_text, from_->spec.file_name);
    } else {
      why_not_ = scaled.error().message();
      from_ = nullptr;
    }
  }

  std::optional<KernelTime> Predict(const Kernel& kernel) const override {
    if (from_ == nullptr || !Supports(*context_.gpu, kernel)) return std::nullopt;
    const std::optional<Kernel> there = KernelThere(kernel);
    if (!there.has_value()) return std::nullopt;
    const std::optional<Prediction> here = PredictCalibrated(scaled_, kernel);
    if (!here.has_value()) return std::nullopt;
    const Prediction reference = *PredictCalibrated(*from_, *there);
    KernelTime time;
    time.time = TimeOfUs(here->us * MeasuredUs(*there, reference) / reference.us);
    time.bound = BoundName(*here);
    time.detail = Detail(kernel, *there);
    time.expected_error = ExpectedError(kernel, *there);
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
    if (!why_not_.empty()) return why_not_;
    return fmt::format("its reference '{}' has no 'kernels:' for it",
                       context_.reference->spec.name);
  }

 private:
  // The reference; without one, the GPU itself, in another type.
  static const GpuData* SourceOf(const ModelContext& context) {
    for (const GpuData* gpu : {context.reference, context.gpu}) {
      if (gpu != nullptr && gpu->calibrated) return gpu;
    }
    return nullptr;
  }

  static double Rate(const GpuData& gpu, DataType type) {
    return gpu.spec.dense_rate[static_cast<size_t>(type)].flops_per_second();
  }
  static bool Supports(const GpuData& gpu, const Kernel& kernel) {
    return IsMemoryKernel(kernel.kind) || Rate(gpu, kernel.type) > 0;
  }

  // The kernel that the calibrated GPU predicts: in its own type, or in the usual type.
  std::optional<Kernel> KernelThere(const Kernel& kernel) const {
    for (const Kernel& candidate : {kernel, Resized(kernel, kUsualType, kernel.dims)}) {
      // The GPU's own time in its own type is not scaled.
      const bool same = IsMemoryKernel(kernel.kind) || candidate.type == kernel.type;
      if (from_ == context_.gpu && same) continue;
      if (Supports(*from_, candidate) && PredictCalibrated(*from_, candidate).has_value()) {
        return candidate;
      }
    }
    return std::nullopt;
  }

  // "h100-sxm-80g, FLOPS x2.275, bandwidth x2.299"; memory-bound kernels have no use for FLOPS.
  std::string Detail(const Kernel& kernel, const Kernel& there) const {
    std::string text = from_->spec.name;
    if (there.type != kernel.type) text += fmt::format(" {}", ToString(there.type));
    if (!IsMemoryKernel(kernel.kind)) {
      text += fmt::format(", FLOPS x{:.3f}",
                          Rate(*context_.gpu, kernel.type) / Rate(*from_, there.type));
    }
    return text + fmt::format(", bandwidth x{:.3f}",
                              context_.gpu->spec.memory_bandwidth.bytes_per_second() /
                                  from_->spec.memory_bandwidth.bytes_per_second());
  }

  double ExpectedError(const Kernel& kernel, const Kernel& there) const {
    const ScalingErrors& errors = from_->parameters.scaling;
    if (IsMemoryKernel(kernel.kind)) return errors.memory;
    if (IsAttention(kernel.kind)) return errors.attention;
    const bool shares =
        errors.gemm_with_share > 0 && KnowShares(to_facts_, kernel.type, from_facts_, there.type);
    return shares ? errors.gemm_with_share : errors.gemm;
  }

  // A row measured on the calibrated GPU comes before its model.
  double MeasuredUs(const Kernel& there, const Prediction& modelled) const {
    for (const ProfilePtr& profile : from_->profiles) {
      const std::optional<RowRef> row = FindRow(*profile, there);
      if (row.has_value()) return RowUs(*from_, *profile, *row, there);
    }
    return modelled.us;
  }

  const ModelContext context_;
  const GpuData* from_;
  GpuData scaled_;  // the GPU as if calibrated
  ScalingFacts to_facts_, from_facts_;
  std::string why_not_;  // why the reference cannot be scaled; "" if it can
};

}  // namespace

Result<GpuData> AsIfCalibrated(const GpuData& to, const GpuData& from) {
  GpuData scaled = to;
  scaled.calibrated = true;
  ASSIGN_OR_RETURN(scaled.parameters, ScaledParameters(to.spec, from.spec, from.parameters));
  return scaled;
}

std::unique_ptr<ComputeModel> MakeScaledModel(const ModelContext& context) {
  return std::make_unique<ScaledModel>(context);
}

}  // namespace drydock
