#include "report/band/band.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace drydock {
namespace {

// Returns the z within which a standard normal variable lies with this probability.
double TwoSidedQuantile(double probability) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {  // enough halvings for the last digit
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < probability ? low : high) = middle;
  }
  return low;
}

// Whether a submodule of the workload is of one of these kinds.
template <typename... Kinds>
bool HasAny(const Workload& workload) {
  return std::any_of(workload.submodules.begin(), workload.submodules.end(),
                     [](const Submodule& each) { return (each.Is<Kinds>() || ...); });
}

// A hybrid model with experts counts as hybrid, as in tests/validation/fit_bands.py.
void SetWholeRun(const Workload& workload, const BandErrors& errors, Band* band) {
  const bool hybrid = HasAny<submodule::StateSpace, submodule::DeltaRule>(workload);
  const bool experts = HasAny<submodule::TopK, submodule::GroupedLinear>(workload);
  band->kind = hybrid ? "hybrid" : experts ? "experts" : "dense";
  band->whole_run = hybrid ? errors.hybrid : experts ? errors.experts : errors.dense;
}

}  // namespace

double SigmaOf(const Band& band) {
  double sum = band.whole_run * band.whole_run;
  for (const TimeShare& each : band.shares) sum += std::pow(each.share * each.error, 2);
  // The mean absolute value of a normal variable is sqrt(2 / pi) of its standard deviation.
  return std::sqrt(std::numbers::pi / 2 * sum);
}

Band BandOf(const Inputs& inputs, Time iteration, std::vector<TimeShare> shares,
            const BandErrors& errors) {
  Band band;
  band.coverage = errors.coverage;
  SetWholeRun(inputs.workload, errors, &band);
  band.shares = std::move(shares);
  const double factor = std::exp(TwoSidedQuantile(band.coverage) * SigmaOf(band));
  band.low = Time::FromSeconds(iteration.seconds() / factor);
  band.high = Time::FromSeconds(iteration.seconds() * factor);
  return band;
}

}  // namespace drydock
