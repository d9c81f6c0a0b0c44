#include "report/facts/host_share.h"

#include <algorithm>
#include <numeric>

namespace drydock {
namespace {

// From these shares of the critical path on, a run is called bound, or partly bound.
constexpr double kBound = 0.5;
constexpr double kPartlyBound = 0.1;

// Returns what bounds a run in which the host does mostly this.
std::string BoundBy(HostCause cause) {
  switch (cause) {
    case HostCause::kLaunches:
    case HostCause::kCode:
    case HostCause::kValues:
      return "launch-bound";
    case HostCause::kData:
      return "bound by the data loader";
    case HostCause::kWork:
      return "bound by the host's own work";
  }
  return "";
}

// Launching, code and launching again are one kind: a faster host shortens each of them.
HostCause LargestKind(const std::array<PartSummary, kHostCauseCount>& by_cause) {
  const auto mean = [&](HostCause cause) { return by_cause[static_cast<size_t>(cause)].mean; };
  const Time launches =
      mean(HostCause::kLaunches) + mean(HostCause::kCode) + mean(HostCause::kValues);
  if (mean(HostCause::kData) > std::max(launches, mean(HostCause::kWork))) return HostCause::kData;
  return mean(HostCause::kWork) > launches ? HostCause::kWork : HostCause::kLaunches;
}

}  // namespace

std::optional<HostShare> HostShareOf(const PathSummary& path,
                                     const std::array<PartSummary, kHostCauseCount>& by_cause) {
  const Time all = std::accumulate(path.parts.begin(), path.parts.end(), Time());
  if (all == Time()) return std::nullopt;
  HostShare share;
  share.decides =
      static_cast<double>(path.parts[kPathHostPart].ps()) / static_cast<double>(all.ps());
  const std::string bound = BoundBy(LargestKind(by_cause));
  share.verdict = share.decides >= kBound         ? bound
                  : share.decides >= kPartlyBound ? "partly " + bound
                                                  : "not " + bound;
  return share;
}

}  // namespace drydock
