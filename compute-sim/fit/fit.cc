#include "compute-sim/fit/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compute-sim/fit/fit_curves.h"
#include "compute-sim/fit/fit_rows.h"
#include "compute-sim/fit/fit_variables.h"
#include "compute-sim/fit/simplex.h"
#include "compute-sim/model/scaled_parameters.h"

namespace drydock {
namespace {

bool Has(const std::vector<DataType>& types, DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

constexpr int kRounds = 5;
// A single row agrees with some rate in any case; a second row can contradict the rate.
constexpr size_t kMinRows = 2;
// A curve from a single length would be the share of this length for all lengths.
constexpr size_t kMinLengths = 3;

using KernelFilter = std::function<bool(KernelKind, DataType)>;
using RowFilter = std::function<bool(const Kernel&)>;

class Fitter {
 public:
  Fitter(GpuData* gpu, const FitOptions& options) : gpu_(gpu), options_(options) {}

  // Fits one set of parameters; `variables` point into gpu_->parameters. Returns false if nothing
  // changes.
  bool FitSet(const std::string& name, std::vector<FitVariable> variables,
              const KernelFilter& wanted, const RowFilter& counts = {},
              QuantizeStage* quantize = nullptr) {
    std::vector<FitRow> all = Rows(wanted);
    if (counts) std::erase_if(all, [&](const FitRow& row) { return !counts(row.kernel); });
    const std::vector<FitRow> rows = Thinned(Half(all, true), options_.max_rows);
    if (all.empty()) return Keep(name);
    if (only_states()) return false;
    const size_t shapes = CountShapes(rows);
    if (shapes < kMinRows) return KeepForLackOfRows(name, all.size(), shapes);
    for (const FitRow& row : rows) fitted_.emplace(row.kernel.kind, row.kernel.type);
    const bool quantized =
        std::any_of(rows.begin(), rows.end(), [](const FitRow& row) { return row.quantized; });
    if (quantized && quantize != nullptr) {
      const auto stage = QuantizeVariables(quantize);
      variables.insert(variables.end(), stage.begin(), stage.end());
    }
    const auto shortest = std::min_element(
        rows.begin(), rows.end(), [](const FitRow& a, const FitRow& b) { return a.us < b.us; });
    // The time of a long kernel does not depend on the cost of its launch.
    std::erase_if(variables, [&](const FitVariable& variable) {
      return variable.launch && variable.read() < shortest->us / 30;
    });
    if (shapes <= variables.size()) {
      notes_.push_back(
          fmt::format("only the rate of {} changed: {} rows are too few for {} parameters", name,
                      shapes, variables.size()));
      variables.resize(1);
    } else if (AllFromHbm(rows)) {
      notes_.push_back(fmt::format("only the rate of {} changed: all rows come out of HBM", name));
      variables.resize(1);
    }
    Minimize(variables, rows, options_.evaluations);
    return true;
  }

  // Fits what the longest kernels lose to settled clocks. They are too few among all rows to matter
  // in the rest of the fit, but a training run consists of them.
  void FitDerate(GemmParameters* set, const KernelFilter& wanted) {
    std::vector<FitRow> rows = Half(Rows(wanted), true);
    std::erase_if(rows, [&](const FitRow& row) { return row.us < 2 * set->derate_at.us(); });
    constexpr size_t kEnough = 10;
    if (rows.size() < kEnough || options_.evaluations == 0) return;
    Minimize({DerateVariable(set)}, rows, options_.evaluations / 10);
  }

  // Fits the curve of norms or of softmax beside the bandwidth of plain kernels. Returns false if
  // the curve does not change.
  bool FitCurve(RateCurve wanted, ShareCurve* curve) {
    const auto is_wanted = [&](KernelKind kind, DataType) { return InfoOf(kind).curve == wanted; };
    const std::vector<FitRow> rows = Half(Rows(is_wanted), true);
    ShareCurve found = CurveOf(rows, options_.weights, gpu_->shape(), gpu_->parameters.memory);
    if (found.empty()) return false;
    if (found.size() < kMinLengths) {
      notes_.push_back(fmt::format(
          "{} did not change: its rows above 300 MB have {} lengths, at least {} are needed",
          wanted == RateCurve::kSoftmax ? "softmax" : "layer_norm", found.size(), kMinLengths));
      return false;
    }
    *curve = std::move(found);
    for (const FitRow& row : rows) fitted_.emplace(row.kernel.kind, row.kernel.type);
    return true;
  }

  // True if a fit used rows of the kernel and type.
  bool Fitted(KernelKind kind, DataType type) const { return fitted_.contains({kind, type}); }
  bool only_states() const { return options_.evaluations == 0; }
  // Records a set without rows, which does not change.
  bool Keep(const std::string& name) {
    kept_.push_back(name);
    return false;
  }
  const std::vector<std::string>& kept() const { return kept_; }
  const std::vector<std::string>& notes() const { return notes_; }

  std::vector<FitRow> Rows(const KernelFilter& wanted) const {
    return RowsOf(gpu_->profiles, options_.weights, wanted);
  }

  double Predict(const FitRow& row) const {
    Profile as;
    as.clocks = row.clocks;
    as.quantized = row.quantized;
    return PredictAsProfiled(*gpu_, as, row.kernel)->us;
  }

 private:
  bool KeepForLackOfRows(const std::string& name, size_t rows, size_t fitted) {
    notes_.push_back(
        fmt::format("{} did not change: the fitted half of its {} rows has {} distinct extents, "
                    "at least {} are needed",
                    name, rows, fitted, kMinRows));
    return false;
  }

  void Minimize(const std::vector<FitVariable>& variables, const std::vector<FitRow>& rows,
                int evaluations) {
    const auto loss = [&](const std::vector<double>& at) {
      for (size_t i = 0; i < at.size(); ++i) variables[i].Set(at[i]);
      return LossOf(rows, options_.weights.sum_weight,
                    [this](const FitRow& row) { return Predict(row); });
    };
    std::vector<double> start;
    for (const FitVariable& variable : variables) start.push_back(variable.Get());
    // Each search starts at the end of the previous search, with a large simplex of the opposite
    // orientation, so that the search does not creep along one valley.
    SimplexResult best{start, 0, 0};
    for (int round = 0; round < kRounds; ++round) {
      best = MinimizeSimplex(loss, best.at, round % 2 == 0 ? 0.5 : -0.4, evaluations / kRounds);
    }
    loss(best.at);
  }

  bool AllFromHbm(const std::vector<FitRow>& rows) const {
    const double beyond = 2 * static_cast<double>(gpu_->spec.l2.count());
    return std::all_of(rows.begin(), rows.end(), [&](const FitRow& row) {
      return IsMemoryKernel(row.kernel.kind) && row.kernel.bytes > beyond;
    });
  }

  GpuData* gpu_;
  FitOptions options_;
  std::set<std::pair<KernelKind, DataType>> fitted_;
  std::vector<std::string> kept_, notes_;
};

// Adds the residuals of one kernel and type: of both halves, or of all rows together if other rows
// changed the parameters.
void AddResiduals(const std::string& name, std::vector<FitRow> rows, bool fitted, bool gemm,
                  const Fitter& fitter, std::vector<Residuals>* all) {
  const auto predict = [&](const FitRow& row) { return fitter.Predict(row); };
  const bool halved = fitted || fitter.only_states();
  const auto add = [&](const std::string& extra) {
    const std::vector<FitRow> judged = halved ? Half(rows, false) : rows;
    all->push_back(
        ResidualsOf(name + (halved ? ", other half" : ", not fitted") + extra, judged, predict));
  };
  if (halved) {
    all->push_back(ResidualsOf(name + (fitted ? ", fitted half" : ", half that a fit takes"),
                               Half(rows, true), predict));
  }
  add("");
  if (!gemm) return;
  std::erase_if(rows, [](const FitRow& row) { return ShortestExtent(row.kernel) < 256; });
  add(", extents from 256");
  std::erase_if(rows, [](const FitRow& row) { return !IsLarge(row.kernel); });
  add(", extents from 1024");
}

// States the errors over the half that was not fitted. If parameters `moved`, errors without rows
// are unknown.
void StateErrors(const Fitter& fitter, const KernelFilter& wanted, bool moved, FitErrors* errors) {
  if (moved) *errors = {};
  const std::vector<FitRow> rows = Half(fitter.Rows(wanted), false);
  for (const bool large : {true, false}) {
    std::vector<FitRow> part = rows;
    std::erase_if(part, [&](const FitRow& row) { return IsLarge(row.kernel) != large; });
    if (part.empty()) continue;
    const auto predict = [&](const FitRow& row) { return fitter.Predict(row); };
    (large ? errors->large : errors->small) = ResidualsOf("", part, predict).mean;
  }
}

// Residuals of every kernel and type that has rows and a prediction.
std::vector<Residuals> AllResiduals(const GpuData& gpu, const Fitter& fitter) {
  std::vector<Residuals> all;
  for (const KernelInfo& info : KernelInfos()) {
    for (int t = 0; t < kDataTypeCount; ++t) {
      const DataType type = static_cast<DataType>(t);
      const std::vector<FitRow> rows = fitter.Rows(
          [&](KernelKind kind, DataType of) { return kind == info.kind && of == type; });
      if (rows.empty() || !PredictCalibrated(gpu, rows.front().kernel).has_value()) continue;
      AddResiduals(fmt::format("{} {}", info.name, ToString(type)), rows,
                   fitter.Fitted(info.kind, type), IsGemm(info.kind), fitter, &all);
    }
  }
  return all;
}

// Returns true if a parameter changed.
bool FitGemms(GpuData* gpu, Fitter* fitter) {
  bool any = false;
  for (GemmParameters& set : gpu->parameters.gemm) {
    const auto wanted = [&](KernelKind kind, DataType type) {
      return IsGemm(kind) && Has(set.types, type);
    };
    const std::string name = fmt::format("gemm {}", ToString(set.types.front()));
    // The stage of fp8 stands beside the memory-bound kernels, those of other types in their sets.
    const bool fp8 = Has(set.types, DataType::kFp8);
    QuantizeStage* quantize = fp8 ? &gpu->parameters.memory.quantize : &set.quantize;
    const bool moved =
        fitter->FitSet(name, GemmVariables(gpu->spec, &set), wanted, /*counts=*/{}, quantize);
    if (fitter->only_states()) continue;
    if (moved) fitter->FitDerate(&set, wanted);
    StateErrors(*fitter, wanted, moved, &set.error);
    any = any || moved;
  }
  return any;
}

// Rows do not name the library that ran, so the fit assigns them to the chosen library.
bool FitAttention(GpuData* gpu, Fitter* fitter) {
  bool any = false;
  for (AttentionParameters& library : gpu->parameters.attention) {
    if (library.types.empty()) continue;
    const DataType type = library.types.front();
    if (gpu->parameters.AttentionFor(type, gpu->attention_library) != &library) {
      fitter->Keep(library.name);
      continue;
    }
    bool moved = false;
    struct Pass {
      KernelKind kind;
      bool wide;
      const char* name;
      AttentionPass* parameters;
    };
    const Pass passes[] = {
        {KernelKind::kAttentionForward, false, "forward", &library.forward},
        {KernelKind::kAttentionBackward, false, "backward", &library.backward},
        {KernelKind::kAttentionForward, true, "wide forward", &library.wide_forward},
        {KernelKind::kAttentionBackward, true, "wide backward", &library.wide_backward}};
    for (const Pass& pass : passes) {
      if (pass.wide && library.wide_from == 0) continue;
      moved |= fitter->FitSet(
          library.name + " " + pass.name, AttentionVariables(gpu->spec, type, pass.parameters),
          [&](KernelKind kind, DataType of) { return kind == pass.kind && Has(library.types, of); },
          [&](const Kernel& kernel) {
            return library.IsWide(AttentionShapeOf(kernel).head_dim) == pass.wide;
          });
    }
    if (fitter->only_states()) continue;
    StateErrors(
        *fitter,
        [&](KernelKind kind, DataType of) { return IsAttention(kind) && Has(library.types, of); },
        moved, &library.error);
    any = any || moved;
  }
  return any;
}

bool FitMemory(GpuData* gpu, Fitter* fitter) {
  MemoryParameters* memory = &gpu->parameters.memory;
  bool moved = fitter->FitSet(
      "memory", MemoryVariables(gpu->spec, memory),
      [](KernelKind kind, DataType) { return InfoOf(kind).curve == RateCurve::kPlain; });
  if (fitter->only_states()) return false;
  moved |= fitter->FitCurve(RateCurve::kLayerNorm, &memory->layer_norm);
  moved |= fitter->FitCurve(RateCurve::kSoftmax, &memory->softmax);
  StateErrors(
      *fitter, [](KernelKind kind, DataType) { return IsMemoryKernel(kind); }, moved,
      &memory->error);
  return moved;
}

}  // namespace

Result<KernelParameters> StartingParameters(const GpuData& gpu, const GpuData* reference) {
  if (gpu.calibrated) return gpu.parameters;
  if (reference == nullptr || !reference->calibrated) {
    return Error(fmt::format("the GPU '{}' has neither 'kernels:' nor a 'reference:' with them to "
                             "start from",
                             gpu.spec.name),
                 {gpu.spec.file_name, 0, 0});
  }
  ASSIGN_OR_RETURN(KernelParameters scaled,
                   ScaledParameters(gpu.spec, reference->spec, reference->parameters));
  // A parameter that no row changes keeps the error that scaling is known to make.
  const ScalingErrors& seen = reference->parameters.scaling;
  for (GemmParameters& set : scaled.gemm) set.error = {seen.gemm, seen.gemm};
  for (AttentionParameters& library : scaled.attention) {
    library.error = {seen.attention, seen.attention};
  }
  scaled.memory.error = {seen.memory, seen.memory};
  return scaled;
}

Result<FitResult> Fit(GpuData gpu, const FitOptions& options) {
  gpu.calibrated = true;
  Fitter fitter(&gpu, options);
  bool moved = FitGemms(&gpu, &fitter);
  moved |= FitAttention(&gpu, &fitter);
  moved |= FitMemory(&gpu, &fitter);
  FitResult result;
  result.residuals = AllResiduals(gpu, fitter);
  result.kept = fitter.kept();
  result.notes = fitter.notes();
  if (fitter.only_states() ? result.residuals.empty() : !moved) {
    if (result.notes.empty()) {
      return Error("none of the rows is of a kernel and type that the model can be fitted to");
    }
    return Error(fmt::format("there are too few rows: {}", fmt::join(result.notes, "; ")));
  }
  result.parameters = std::move(gpu.parameters);
  return result;
}

}  // namespace drydock
