#include "compute-sim/model/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compute-sim/kernel/kernel_parameters_text.h"
#include "compute-sim/model/gpu_spread.h"
#include "compute-sim/model/limited_parameters.h"
#include "compute-sim/model/model_stack.h"
#include "compute-sim/model/scaled_model.h"
#include "compute-sim/model/scaling_facts.h"
#include "compute-sim/profile/profile_limits.h"
#include "compute-sim/submodules/stated_time.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "core/base/check.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"
#include "core/schema/cluster/gpu_file.h"
#include "core/schema/cluster/gpu_limits_file.h"

namespace drydock {
namespace {

// Returns an error if the caller requests a library that this calibrated GPU does not have.
Status CheckAttentionLibrary(const GpuData& gpu) {
  if (!gpu.calibrated || gpu.attention_library.empty()) return OkStatus();
  const std::vector<std::string> names = gpu.parameters.AttentionBackends();
  for (const std::string& name : names) {
    if (name == gpu.attention_library) return OkStatus();
  }
  return Error(
      fmt::format("the GPU '{}' has no attention library '{}'{}; valid are {}", gpu.spec.name,
                  gpu.attention_library, DidYouMean(gpu.attention_library, names), Join(names)),
      {gpu.spec.file_name, 0, 0});
}

// Lengthens the time of a kernel that is bound by the clock to the time on the slowest of `count`
// GPUs.
void SlowToSlowest(double slowest, int count, KernelTime* time) {
  if (slowest == 1 || time->bound != KernelBound::kTensorCores) return;
  time->time = Time::Ps(std::llround(static_cast<double>(time->time.ps()) * slowest));
  time->detail += fmt::format(", slowest of {} x{:.3f}", count, slowest);
}

// Adds the time between the kernels of one submodule as a separate entry.
void AddLaunchGaps(const GpuData& source, int launches, SubmoduleTime* time) {
  const Time gap = source.parameters.launch_gap;
  KernelTime entry;
  entry.name = "launch gaps";
  entry.shape = fmt::format("{} kernel{}", launches, launches == 1 ? "" : "s");
  entry.time = gap * launches;
  entry.bound = KernelBound::kLaunch;
  entry.gap = true;
  entry.source = TimeSource::kModel;
  entry.detail = fmt::format("launch_gap {} of {}", ToString(gap), source.spec.name);
  time->total += entry.time;
  time->kernels.push_back(std::move(entry));
}

class GpuSimulation {
 public:
  // `gpus`: the number of GPUs in the run. `slowest`: the time on the slowest over the mean.
  GpuSimulation(GpuData gpu, std::optional<GpuData> reference, int gpus, double slowest,
                const SimulateOptions& options)
      : gpu_(std::move(gpu)),
        reference_(std::move(reference)),
        gpus_(gpus),
        slowest_(slowest),
        kernels_(options.kernels),
        stack_({&gpu_, reference_.has_value() ? &*reference_ : nullptr}, options.models) {}
  GpuSimulation(const GpuSimulation&) = delete;  // the models point into it
  GpuSimulation& operator=(const GpuSimulation&) = delete;

  Result<SubmoduleTime> TimeOf(const Submodule& submodule, int64_t* source_count) const {
    if (submodule.has_stated_time()) {
      ++source_count[static_cast<size_t>(TimeSource::kGiven)];
      return StatedTime(submodule, gpu_.spec);
    }
    ASSIGN_OR_RETURN(const std::vector<Kernel> kernels,
                     KernelsOf(submodule, kernels_, Fp8LayoutsOf(gpu_.spec)));
    SubmoduleTime time;
    int launches = 0;
    for (const Kernel& kernel : kernels) {
      Result<KernelTime> predicted = stack_.Predict(kernel);
      if (!predicted.ok()) {
        return Error(fmt::format("submodule '{}': {}", submodule.name, predicted.error().message()),
                     {gpu_.spec.file_name, 0, 0});
      }
      ++source_count[static_cast<size_t>(predicted->source)];
      SlowToSlowest(slowest_, gpus_, &*predicted);
      launches += kernel.launches;
      // Products of a loop hide each other's launches on their streams.
      if (IsMemoryKernel(kernel.kind)) launches += kernel.looped;
      // The kernels of attention's backward are launched by one call.
      predicted->launches = IsAttention(kernel.kind) ? 1 : kernel.launches;
      predicted->looped = kernel.looped;
      time.total += predicted->time;
      if (kernel.launches == 0) {  // an epilogue
        CHECK(!time.kernels.empty());
        time.kernels.back().time += predicted->time;
        time.kernels.back().flops += predicted->flops;
        time.kernels.back().bytes += predicted->bytes;
        time.kernels.back().shape += " with " + InfoOf(kernel.kind).name;
        continue;
      }
      time.kernels.push_back(*std::move(predicted));
    }
    const GpuData* calibrated = gpu_.calibrated          ? &gpu_
                                : reference_.has_value() ? &*reference_
                                                         : nullptr;
    if (calibrated != nullptr && launches > 0) AddLaunchGaps(*calibrated, launches, &time);
    return time;
  }

 private:
  GpuData gpu_;
  std::optional<GpuData> reference_;
  const int gpus_;
  const double slowest_;
  const KernelAssumptions kernels_;
  const ModelStack stack_;
};

// Reports a GPU without any kernel times as one error, not as one error for each kernel.
Status CheckHasTimes(const GpuData& gpu) {
  if (gpu.calibrated || !gpu.spec.reference.empty() || !gpu.profiles.empty()) return OkStatus();
  return Error(fmt::format("there are no kernel times for the GPU '{}': its file has neither "
                           "'kernels:' nor 'reference:', and no profile of it was given "
                           "(--gpu-profile)",
                           gpu.spec.name),
               {gpu.spec.file_name, 0, 0});
}

// A profile of a GPU that the run does not have is a mistake: the run would not use it.
Status CheckProfilesAreUsed(const Topology& topology, const std::vector<ProfilePtr>& profiles) {
  std::vector<std::string> names;
  for (const GpuSpec& spec : topology.gpus) {
    names.push_back(spec.name);
    if (!spec.reference.empty()) names.push_back(spec.reference);
  }
  Diagnostics diagnostics;
  for (const ProfilePtr& profile : profiles) {
    if (std::find(names.begin(), names.end(), profile->gpu) != names.end()) continue;
    diagnostics.Add(Error(fmt::format("this profile was measured on '{}'{}; this run needs {}",
                                      profile->gpu, DidYouMean(profile->gpu, names), Join(names)),
                          {profile->file_name, 0, 0}));
  }
  return diagnostics.ToStatus();
}

// From the power limit at which the parameters hold to `watts`; 0: not known.
void MovePower(int watts, KernelParameters* parameters) {
  if (watts == 0) return;
  if (parameters->power_limit > 0 && watts != parameters->power_limit) {
    ChangePower(static_cast<double>(watts) / parameters->power_limit, parameters);
  }
  parameters->power_limit = watts;
}

// To the power limit of the GPU, or to the limits of the hosts.
Status ApplyLimits(GpuData* gpu) {
  if (!gpu->calibrated) return OkStatus();
  ASSIGN_OR_RETURN(const ScalingFacts facts,
                   ReadScalingFacts(gpu->spec.file_text, gpu->spec.file_name));
  const int own = static_cast<int>(facts.power_limit);
  const GpuLimits& limits = gpu->limits;
  if (limits.any()) {
    gpu->unlimited = gpu->parameters;
    MovePower(own, &*gpu->unlimited);
  }
  // A file that does not say at which limit it was measured was measured at its own.
  if (gpu->parameters.power_limit == 0) gpu->parameters.power_limit = own;
  MovePower(limits.watts > 0 ? limits.watts : own, &gpu->parameters);
  if (limits.mhz > 0 && gpu->spec.clock_mhz > 0) {
    LimitClock(static_cast<double>(limits.mhz) / gpu->spec.clock_mhz, &gpu->parameters);
  }
  return OkStatus();
}

// The kind of the run's hosts that have this GPU; null if none of them has it.
const HostKind* KindWith(const Topology& topology, const GpuSpec& spec) {
  for (const int index : topology.hosts) {
    const HostKind& kind = topology.host_kinds[static_cast<size_t>(index)];
    if (topology.gpus[static_cast<size_t>(kind.gpu)].name == spec.name) return &kind;
  }
  return nullptr;
}

GpuLimits LimitsOf(const Topology& topology, const GpuSpec& spec) {
  const HostKind* kind = KindWith(topology, spec);
  return kind == nullptr ? GpuLimits() : kind->limits;
}

}  // namespace

Result<GpuData> MakeGpuData(const GpuSpec& spec, const SimulateOptions& options,
                            const GpuLimits& limits) {
  GpuData gpu;
  gpu.spec = spec;
  gpu.limits = limits;
  gpu.attention_library = options.attention_library;
  gpu.chunk_products = options.kernels.chunk_products;
  gpu.sparse_products = options.kernels.sparse_products;
  ASSIGN_OR_RETURN(gpu.parameters,
                   ReadKernelParameters(spec.file_text, spec.file_name, &gpu.calibrated));
  if (options.clocks.has_value()) gpu.parameters.clocks = *options.clocks;
  RETURN_IF_ERROR(ApplyLimits(&gpu));
  for (const ProfilePtr& profile : options.profiles) {
    if (profile->gpu != spec.name) continue;
    RETURN_IF_ERROR(CheckRowsArePossible(*profile, spec));
    gpu.profiles.push_back(profile);
  }
  RETURN_IF_ERROR(CheckAttentionLibrary(gpu));
  return gpu;
}

Result<GpuData> MakeReferenceData(const GpuSpec& spec, const SimulateOptions& options) {
  if (spec.reference_text.empty()) {
    return Error(fmt::format("the GPU '{}' refers to '{}', whose file was not found", spec.name,
                             spec.reference),
                 {spec.file_name, 0, 0});
  }
  ASSIGN_OR_RETURN(const GpuSpec reference,
                   ParseGpuFile(spec.reference_text, "gpus/" + spec.reference + ".yaml"));
  ASSIGN_OR_RETURN(GpuData data, MakeGpuData(reference, options));
  if (!data.calibrated) {
    return Error(fmt::format("the GPU '{}' refers to '{}', which has no 'kernels:' section",
                             spec.name, spec.reference),
                 {spec.file_name, 0, 0});
  }
  return data;
}

Result<KernelTimes> Simulate(const Workload& workload, const SimulateOptions& options) {
  RETURN_IF_ERROR(CheckProfilesAreUsed(workload.topology, options.profiles));
  const bool needs_models =
      workload.submodules.empty() ||
      std::any_of(workload.submodules.begin(), workload.submodules.end(),
                  [](const Submodule& submodule) { return !submodule.has_stated_time(); });
  KernelTimes times;
  Diagnostics diagnostics;
  size_t done = 0;
  const size_t all = workload.topology.gpus.size() * workload.submodules.size();
  for (const GpuSpec& spec : workload.topology.gpus) {
    const GpuLimits limits = LimitsOf(workload.topology, spec);
    ASSIGN_OR_RETURN(GpuData gpu, MakeGpuData(spec, options, limits));
    if (needs_models) RETURN_IF_ERROR(CheckHasTimes(gpu));
    std::optional<GpuData> reference;
    if (!spec.reference.empty()) {
      ASSIGN_OR_RETURN(reference, MakeReferenceData(spec, options));
    }
    ASSIGN_OR_RETURN(const double spread, SpreadOf(spec));
    const int gpus = workload.rank_count();
    GpuSimulation simulation(std::move(gpu), std::move(reference), gpus, SlowestTime(spread, gpus),
                             options);
    GpuKernelTimes& of_gpu = times.gpus.emplace_back();
    of_gpu.gpu = spec.name;
    for (const Submodule& submodule : workload.submodules) {
      if (options.progress) options.progress(done++, all);
      Result<SubmoduleTime> time = simulation.TimeOf(submodule, times.source_count);
      if (time.ok())
        of_gpu.submodules.push_back(*std::move(time));
      else
        diagnostics.Add(time.error());
    }
  }
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return times;
}

namespace {

// The parameters from which the run's times follow, as text; "" if there are none.
std::string ParametersText(const GpuSpec& spec, const SimulateOptions& options,
                           const GpuLimits& limits) {
  const Result<GpuData> gpu = MakeGpuData(spec, options, limits);
  KernelParameters parameters;
  if (gpu.ok() && gpu->calibrated) {
    parameters = gpu->parameters;
  } else if (gpu.ok() && !spec.reference.empty()) {
    const Result<GpuData> reference = MakeReferenceData(spec, options);
    if (!reference.ok()) return "";
    const Result<GpuData> scaled = AsIfCalibrated(*gpu, *reference);
    if (!scaled.ok()) return "";
    parameters = scaled->parameters;
  } else {
    return "";
  }
  parameters.power_limit = 0;  // the limit itself is no time
  return KernelsText(parameters, "");
}

}  // namespace

std::vector<std::string> LimitsWithoutEffect(const Workload& workload,
                                             const SimulateOptions& options) {
  std::vector<std::string> lines;
  for (const GpuSpec& spec : workload.topology.gpus) {
    const HostKind* kind = KindWith(workload.topology, spec);
    if (kind == nullptr || !kind->limits.any()) continue;
    const std::string without = ParametersText(spec, options, {});
    const auto check = [&](const std::string& stated, const GpuLimits& limit, bool own) {
      if (ParametersText(spec, options, limit) != without) return;
      const char* why = without.empty() ? "its times are measured rows, which stay as they are"
                        : own           ? "it is the GPU's own"
                                        : "no kernel model of the GPU depends on it";
      lines.push_back(fmt::format("{} of the hosts '{}' changes no time on the GPU '{}': {}",
                                  stated, kind->name, spec.name, why));
    };
    const auto [watts, mhz] = kind->limits;
    if (watts > 0) {
      check(fmt::format("power_limit {} W", watts), {watts, 0}, watts == OwnPowerLimit(spec));
    }
    if (mhz > 0) check(fmt::format("clock_limit {} MHz", mhz), {0, mhz}, mhz == spec.clock_mhz);
  }
  return lines;
}

namespace {

// The distance of the answers from measured rows: "; 12 as measured; 4 between rows, up to x1.40
// off; 3 too far from any row, from x2.50".
std::string RowsText(const KernelTimes& times) {
  int64_t exact = 0, between = 0, beyond = 0;
  double widest = 1, nearest_beyond = 0;
  for (const GpuKernelTimes& gpu : times.gpus) {
    for (const SubmoduleTime& submodule : gpu.submodules) {
      for (const KernelTime& kernel : submodule.kernels) {
        if (kernel.row_distance == 0) continue;
        if (kernel.source == TimeSource::kProfile) {
          ++(kernel.row_distance == 1 ? exact : between);
          widest = std::max(widest, kernel.row_distance);
        } else {
          ++beyond;
          nearest_beyond = nearest_beyond == 0 ? kernel.row_distance
                                               : std::min(nearest_beyond, kernel.row_distance);
        }
      }
    }
  }
  std::string text;
  if (exact > 0) text += fmt::format("; {} as measured", exact);
  if (between > 0) text += fmt::format("; {} between rows, up to x{:.2f} off", between, widest);
  if (beyond > 0) {
    text += fmt::format("; {} too far from any row, from x{:.2f}", beyond, nearest_beyond);
  }
  return text;
}

// The number of kernels of a kind, and their mean expected error, weighted by time.
struct Band {
  int64_t kernels = 0;
  double error = 0, weight = 0;

  void Add(const KernelTime& kernel) {
    ++kernels;
    error += kernel.expected_error * kernel.time.us();
    weight += kernel.time.us();
  }
  double percent() const { return error / weight * 100; }
};

// The expected error of scaled times, and of kernels whose rates configs/kernels.yaml assumes:
// "; scaled times +- 7.7 %; 12 at assumed rates +- 50.0 %".
std::string BandText(const KernelTimes& times) {
  const std::string& chunk_name = InfoOf(KernelKind::kChunkProduct).name;
  const std::string& sparse_name = InfoOf(KernelKind::kSparseProduct).name;
  Band scaled, assumed;
  for (const GpuKernelTimes& gpu : times.gpus) {
    for (const SubmoduleTime& submodule : gpu.submodules) {
      for (const KernelTime& kernel : submodule.kernels) {
        if (kernel.source == TimeSource::kProfile || kernel.expected_error == 0) continue;
        if (kernel.name == chunk_name || kernel.name == sparse_name)
          assumed.Add(kernel);
        else if (kernel.source == TimeSource::kScaled)
          scaled.Add(kernel);
      }
    }
  }
  std::string text;
  if (scaled.weight > 0) text += fmt::format("; scaled times +- {:.1f} %", scaled.percent());
  if (assumed.weight > 0) {
    text += fmt::format("; {} at assumed rates +- {:.1f} %", assumed.kernels, assumed.percent());
  }
  return text;
}

// ", limited to 500 W and 1410 MHz"; "" without limits.
std::string LimitsText(const Topology& topology, const std::string& gpu) {
  for (const GpuSpec& spec : topology.gpus) {
    if (spec.name != gpu) continue;
    const GpuLimits limits = LimitsOf(topology, spec);
    if (!limits.any()) return "";
    std::string text = limits.watts > 0 ? fmt::format(" {} W", limits.watts) : "";
    if (limits.mhz > 0) text += fmt::format("{} {} MHz", text.empty() ? "" : " and", limits.mhz);
    return ", limited to" + text;
  }
  return "";
}

}  // namespace

std::string SourcesText(const KernelTimes& times) {
  int64_t total = 0;
  std::vector<std::string> parts;
  for (size_t i = 0; i < TimeSourceNames().size(); ++i) {
    if (i == static_cast<size_t>(TimeSource::kGiven) && times.source_count[i] == 0) continue;
    total += times.source_count[i];
    parts.push_back(fmt::format("{} {}", times.source_count[i], TimeSourceNames()[i]));
  }
  return fmt::format("{} kernels: {}{}{}", total, Join(parts), RowsText(times), BandText(times));
}

std::string Explain(const Workload& workload, const KernelTimes& times) {
  std::string out;
  for (const GpuKernelTimes& gpu : times.gpus) {
    out += fmt::format("GPU {}{}\n", gpu.gpu, LimitsText(workload.topology, gpu.gpu));
    for (size_t i = 0; i < gpu.submodules.size(); ++i) {
      const Submodule& submodule = workload.submodules[i];
      out += fmt::format("{:>12}  {} {}\n", ToString(gpu.submodules[i].total), submodule.name,
                         PassNames()[static_cast<size_t>(submodule.pass)]);
      for (const KernelTime& kernel : gpu.submodules[i].kernels) {
        out += fmt::format("{:>12}    {:<24} {:<32} {:<12} {:<8} {}{}\n", ToString(kernel.time),
                           kernel.name, kernel.shape, ToString(kernel.bound),
                           TimeSourceNames()[static_cast<size_t>(kernel.source)], kernel.detail,
                           kernel.expected_error == 0
                               ? ""
                               : fmt::format(", +- {:.1f} %", kernel.expected_error * 100));
      }
    }
  }
  return out;
}

}  // namespace drydock
