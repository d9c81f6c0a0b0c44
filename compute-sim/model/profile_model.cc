#include "compute-sim/model/profile_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute-sim/model/gpu_data.h"
#include "compute-sim/model/scaled_model.h"
#include "core/base/files.h"

namespace drydock {
namespace {

class ProfileModel : public ComputeModel {
 public:
  // For a GPU without parameters, the deviation of rows is relative to the scaled parameters of its
  // reference.
  explicit ProfileModel(const ModelContext& context) : gpu_(*context.gpu) {
    if (gpu_.calibrated || context.reference == nullptr || !context.reference->calibrated) return;
    if (Result<GpuData> scaled = AsIfCalibrated(gpu_, *context.reference); scaled.ok()) {
      gpu_ = *std::move(scaled);
    }
  }

  // Earlier profiles come first; a row in any profile comes before an interpolation in any.
  std::optional<KernelTime> Predict(const Kernel& kernel) const override {
    for (const ProfilePtr& profile : gpu_.profiles) {
      const std::optional<RowRef> row = FindRow(*profile, kernel);
      if (!row.has_value()) continue;
      return Answer(kernel, TimeOfUs(RowUs(gpu_, *profile, *row, kernel)), 1,
                    fmt::format("{}:{}", BaseName(profile->file_name), row->line()));
    }
    for (const ProfilePtr& profile : gpu_.profiles) {
      if (auto answer = BetweenTwo(*profile, kernel)) return answer;
      if (auto answer = AmongSeveral(*profile, kernel)) return answer;
    }
    return std::nullopt;
  }

  std::string WhyNot(const Kernel& kernel) const override {
    const size_t count = gpu_.profiles.size();
    if (count == 0) return "no profile of this GPU was given";
    const std::string profiles = fmt::format("{} profile{}", count, count == 1 ? "" : "s");
    const double distance = RowDistance(gpu_, kernel);
    if (distance == 0) return "no row of that kernel and type in " + profiles;
    return fmt::format("the nearest row in {} is {:.3g} times off", profiles, distance);
  }

 private:
  KernelTime Answer(const Kernel& kernel, Time measured, double distance,
                    const std::string& detail) const {
    KernelTime time;
    time.time = measured;
    const std::optional<Prediction> prediction = PredictCalibrated(gpu_, kernel);
    time.bound = prediction.has_value() ? BoundOf(*prediction) : KernelBound::kMeasured;
    time.detail = detail;
    time.row_distance = distance;
    return time;
  }

  // log(measured / model) of a row, both at the row's clocks.
  double Deviation(const Profile& profile, const RowRef& row, const Kernel& like) const {
    return std::log(row.time().us() / PredictAsProfiled(gpu_, profile, row.Like(like))->us);
  }

  std::optional<KernelTime> BetweenTwo(const Profile& profile, const Kernel& kernel) const {
    const std::optional<EnclosingPair> pair = FindEnclosingPair(profile, kernel);
    if (!pair.has_value()) return std::nullopt;
    // The distance in the one extent that differs.
    const double gap = std::exp(std::abs(LogGap(*pair)) * std::min(pair->at, 1 - pair->at));
    return Answer(kernel, Between(profile, *pair, kernel), gap,
                  fmt::format("between {}:{} and {}, x{:.2f} off", BaseName(profile.file_name),
                              pair->below.line(), pair->above.line(), gap));
  }

  static double LogGap(const EnclosingPair& pair) {
    double gap = 0;
    for (size_t i = 0; i < pair.below.table->width; ++i) {
      const int64_t low = pair.below.extent(i), high = pair.above.extent(i);
      if (low != high) gap = std::log(static_cast<double>(high) / static_cast<double>(low));
    }
    return gap;
  }

  Time Between(const Profile& profile, const EnclosingPair& pair, const Kernel& kernel) const {
    const double at = pair.at;
    const std::optional<Prediction> model = PredictCalibrated(gpu_, kernel);
    if (!model.has_value()) {
      return TimeOfUs(std::exp((1 - at) * std::log(pair.below.time().us()) +
                               at * std::log(pair.above.time().us())));
    }
    const double deviation = (1 - at) * Deviation(profile, pair.below, kernel) +
                             at * Deviation(profile, pair.above, kernel);
    return TimeOfUs(model->us * std::exp(profile.weight * deviation));
  }

  // The prediction from which the deviation of rows is computed: the calibrated model, or else the
  // GPU's plain roofline, which has the right slopes, but not the right level.
  double BaselineUs(const Profile* profile, const Kernel& kernel) const {
    const std::optional<Prediction> model = profile == nullptr
                                                ? PredictCalibrated(gpu_, kernel)
                                                : PredictAsProfiled(gpu_, *profile, kernel);
    if (model.has_value()) return model->us;
    const double rate = gpu_.spec.RateOf(kernel.type).flops_per_second();
    const double compute = rate > 0 ? kernel.flops / rate : 0;
    const double memory = kernel.bytes / gpu_.spec.memory_bandwidth.bytes_per_second();
    return std::max(compute, memory) * 1e6;
  }

  std::optional<KernelTime> AmongSeveral(const Profile& profile, const Kernel& kernel) const {
    const std::vector<NearRow> rows = FindEnclosing(profile, kernel);
    if (rows.empty()) return std::nullopt;
    double sum = 0, weights = 0;
    for (const NearRow& near : rows) {
      const double log_distance = std::log(near.distance);
      const double weight = 1 / (log_distance * log_distance);
      const double baseline = BaselineUs(&profile, near.row.Like(kernel));
      sum += weight * std::log(near.row.time().us() / baseline);
      weights += weight;
    }
    // Without a calibrated model, the rows alone decide.
    const bool calibrated = PredictCalibrated(gpu_, kernel).has_value();
    const double deviation = sum / weights * (calibrated ? profile.weight : 1);
    return Answer(
        kernel, TimeOfUs(BaselineUs(nullptr, kernel) * std::exp(deviation)), rows.front().distance,
        fmt::format("{} rows of {} around it, {} nearest, x{:.2f} off", rows.size(),
                    BaseName(profile.file_name), rows.front().row.line(), rows.front().distance));
  }

  GpuData gpu_;
};

}  // namespace

std::unique_ptr<ComputeModel> MakeProfileModel(const ModelContext& context) {
  return std::make_unique<ProfileModel>(context);
}

}  // namespace drydock
