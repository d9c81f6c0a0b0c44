#include "compute-sim/model/scaled_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/model/gpu_data.h"
#include "compute-sim/model/scaled_parameters.h"
#include "compute-sim/model/scaling_facts.h"

namespace drydock {
namespace {

// Replaces a type for which the calibrated GPU has no parameters. Every calibrated GPU has
// parameters for 16 bits.
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
    const std::optional<Kernel> source_kernel = SourceKernel(kernel);
    if (!source_kernel.has_value()) return std::nullopt;
    const std::optional<Prediction> target = PredictCalibrated(scaled_, kernel);
    if (!target.has_value()) return std::nullopt;
    const Prediction reference = *PredictCalibrated(*from_, *source_kernel);
    KernelTime time;
    time.time = TimeOfUs(target->us * MeasuredUs(*source_kernel, reference) / reference.us);
    time.bound = BoundOf(*target);
    time.detail = Detail(kernel, *source_kernel);
    time.expected_error = ExpectedError(kernel, *source_kernel);
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
  // The reference, or else the GPU itself, in another type.
  static const GpuData* SourceOf(const ModelContext& context) {
    for (const GpuData* gpu : {context.reference, context.gpu}) {
      if (gpu != nullptr && gpu->calibrated) return gpu;
    }
    return nullptr;
  }

  static double Rate(const GpuData& gpu, DataType type) {
    return gpu.spec.RateOf(type).flops_per_second();
  }
  static bool Supports(const GpuData& gpu, const Kernel& kernel) {
    return IsMemoryKernel(kernel.kind) || Rate(gpu, kernel.type) > 0;
  }

  // The kernel that the calibrated GPU predicts: in its own type, or in the usual type.
  std::optional<Kernel> SourceKernel(const Kernel& kernel) const {
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

  // "h100-sxm-80g, FLOPS x2.275, bandwidth x2.299"; memory-bound kernels omit the FLOPS.
  std::string Detail(const Kernel& kernel, const Kernel& source_kernel) const {
    std::string text = from_->spec.name;
    if (source_kernel.type != kernel.type) text += fmt::format(" {}", ToString(source_kernel.type));
    if (!IsMemoryKernel(kernel.kind)) {
      text += fmt::format(", FLOPS x{:.3f}",
                          Rate(*context_.gpu, kernel.type) / Rate(*from_, source_kernel.type));
    }
    return text + fmt::format(", bandwidth x{:.3f}",
                              context_.gpu->spec.memory_bandwidth.bytes_per_second() /
                                  from_->spec.memory_bandwidth.bytes_per_second());
  }

  double ExpectedError(const Kernel& kernel, const Kernel& source_kernel) const {
    const ScalingErrors& errors = from_->parameters.scaling;
    if (IsMemoryKernel(kernel.kind)) return errors.memory;
    if (HasAssumedRate(kernel.kind)) return from_->SharesOf(kernel.kind).error;
    if (IsAttention(kernel.kind)) return std::max(errors.attention, to_facts_.attention_error);
    const bool shares = errors.gemm_with_share > 0 &&
                        KnowShares(to_facts_, kernel.type, from_facts_, source_kernel.type);
    return std::max(shares ? errors.gemm_with_share : errors.gemm, to_facts_.gemm_error);
  }

  // A row measured on the calibrated GPU comes before its model.
  double MeasuredUs(const Kernel& source_kernel, const Prediction& modeled) const {
    for (const ProfilePtr& profile : from_->profiles) {
      const std::optional<RowRef> row = FindRow(*profile, source_kernel);
      if (row.has_value()) return RowUs(*from_, *profile, *row, source_kernel);
    }
    return modeled.us;
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
  // The parameters of the GPU itself, from which it is scaled to another type, keep the limits.
  const bool itself = &to == &from;
  ASSIGN_OR_RETURN(scaled.parameters, ScaledParameters(to.spec, from.spec, from.parameters,
                                                       itself ? GpuLimits() : to.limits));
  if (to.limits.any() && !itself) {
    ASSIGN_OR_RETURN(scaled.unlimited, ScaledParameters(to.spec, from.spec, from.parameters));
  }
  return scaled;
}

std::unique_ptr<ComputeModel> MakeScaledModel(const ModelContext& context) {
  return std::make_unique<ScaledModel>(context);
}

}  // namespace drydock
