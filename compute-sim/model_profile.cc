// `profile`: a measured row, or the way between two of them. Between rows, the logarithm of time
// is interpolated over the logarithm of the extent; where the GPU is calibrated, what is
// interpolated is how far the rows lie from the model, so that its steps (waves of tiles) stay.
#include <fmt/format.h>

#include <cmath>

#include "compute-sim/compute_model.h"
#include "core/base/files.h"

namespace drydock {
namespace {

class ProfileModel : public ComputeModel {
 public:
  explicit ProfileModel(const GpuData* gpu) : gpu_(gpu) {}

  // Earlier profiles come first; a row in any of them comes before an interpolation in any.
  std::optional<KernelTime> Predict(const Kernel& kernel) const override {
    for (const Profile& profile : gpu_->profiles) {
      const ProfileRow* row = FindRow(profile, kernel);
      if (row == nullptr) continue;
      return Answer(kernel, Time::FromUs(RowUs(*gpu_, profile, *row, kernel)),
                    fmt::format("{}:{}", BaseName(profile.file_name), row->line));
    }
    for (const Profile& profile : gpu_->profiles) {
      const std::optional<Neighbours> pair = FindNeighbours(profile, kernel);
      if (!pair.has_value()) continue;
      return Answer(kernel, Between(profile, *pair, kernel),
                    fmt::format("between {}:{} and {}", BaseName(profile.file_name),
                                pair->below->line, pair->above->line));
    }
    return std::nullopt;
  }

  std::string WhyNot(const Kernel&) const override {
    const size_t count = gpu_->profiles.size();
    if (count == 0) return "no profile of this GPU was given";
    return fmt::format("no row near it in {} profile{}", count, count == 1 ? "" : "s");
  }

 private:
  KernelTime Answer(const Kernel& kernel, Time measured, const std::string& detail) const {
    KernelTime time;
    time.time = measured;
    const std::optional<Prediction> prediction = PredictCalibrated(*gpu_, kernel);
    time.bound = prediction.has_value() ? BoundName(*prediction) : "measured";
    time.detail = detail;
    return time;
  }

  // log(measured / model) of a row, both at the row's clocks.
  double Deviation(const Profile& profile, const ProfileRow& row, const Kernel& like) const {
    const Kernel kernel = Resized(like, row.kernel.type, row.kernel.dims);
    return std::log(row.time.us() / PredictAsProfiled(*gpu_, profile, kernel)->us);
  }

  Time Between(const Profile& profile, const Neighbours& pair, const Kernel& kernel) const {
    const double at = pair.at;
    const std::optional<Prediction> model = PredictCalibrated(*gpu_, kernel);
    if (!model.has_value()) {
      return Time::FromUs(std::exp((1 - at) * std::log(pair.below->time.us()) +
                                   at * std::log(pair.above->time.us())));
    }
    const double deviation = (1 - at) * Deviation(profile, *pair.below, kernel) +
                             at * Deviation(profile, *pair.above, kernel);
    return Time::FromUs(model->us * std::exp(profile.weight * deviation));
  }

  const GpuData* gpu_;
};

}  // namespace

std::unique_ptr<ComputeModel> MakeProfileModel(const ModelContext& context) {
  return std::make_unique<ProfileModel>(context.gpu);
}

}  // namespace drydock
