#include "study/points/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr const char* kMemory = "memory_gb";
constexpr const char* kMemoryShare = "memory_share";
constexpr const char* kNeedsPrice = "'cost' with a price in the cluster file";

double Gigabytes(Bytes bytes) { return static_cast<double>(bytes.count()) / 1e9; }

double ShareOfMemory(const MemoryVerdict& memory) {
  return static_cast<double>(memory.total.count()) / static_cast<double>(memory.capacity.count());
}

// The share of the iteration in the parts first..last.
double ShareOfParts(const Summary& summary, int first, int last) {
  double share = 0;
  for (int i = first; i <= last; ++i) {
    share += summary.ShareOf(summary.parts[static_cast<size_t>(i)].mean);
  }
  return share;
}

// The parts are compute, exposed communication by dimension, then these.
constexpr int kExposedMemoryPart = kHostPart - 1;
constexpr int kBubblePart = kHostPart + 2;

}  // namespace

const std::vector<Metric>& Metrics() {
  using enum Metric::Better;
  static const std::vector<Metric> metrics = {
      {"iteration_s", "time of an iteration", kLess,
       [](const Summary& s) -> std::optional<double> { return s.rates.iteration.seconds(); }},
      {"iteration_low_s", "lower end of its band", kNeither,
       [](const Summary& s) -> std::optional<double> {
         return s.band ? std::optional(s.band->low.seconds()) : std::nullopt;
       }},
      {"iteration_high_s", "upper end of its band", kNeither,
       [](const Summary& s) -> std::optional<double> {
         return s.band ? std::optional(s.band->high.seconds()) : std::nullopt;
       }},
      {"tokens_per_s", "tokens a second, of the cluster", kMore,
       [](const Summary& s) -> std::optional<double> { return s.rates.tokens_per_second; }},
      {"tokens_per_s_per_gpu", "tokens a second and GPU", kMore,
       [](const Summary& s) -> std::optional<double> { return s.rates.tokens_per_gpu_second; }},
      {"model_tflops_per_s_per_gpu", "model FLOPs a second and GPU", kMore,
       [](const Summary& s) -> std::optional<double> {
         return s.rates.model.flops_per_second() / 1e12;
       }},
      {"mfu", "model FLOPs utilization", kMore,
       [](const Summary& s) -> std::optional<double> { return s.rates.mfu; }},
      {kMemory, "memory of the fullest GPU", kLess,
       [](const Summary& s) -> std::optional<double> {
         return s.memory ? std::optional(Gigabytes(s.memory->verdict.total)) : std::nullopt;
       }},
      {kMemoryShare, "the same, as a share of the smallest GPU's memory", kLess,
       [](const Summary& s) -> std::optional<double> {
         return s.memory ? std::optional(ShareOfMemory(s.memory->verdict)) : std::nullopt;
       }},
      {"compute_share", "share of the iteration in compute, mean of the ranks", kNeither,
       [](const Summary& s) -> std::optional<double> { return ShareOfParts(s, 0, 0); }},
      {"exposed_communication_share", "share in communication that nothing hides", kLess,
       [](const Summary& s) -> std::optional<double> {
         return ShareOfParts(s, 1, kExposedMemoryPart - 1);
       }},
      {"host_share", "share in waits for the host", kLess,
       [](const Summary& s) -> std::optional<double> {
         return ShareOfParts(s, kHostPart, kHostPart);
       }},
      {"bubble_share", "share in the bubble of the pipeline", kLess,
       [](const Summary& s) -> std::optional<double> {
         return ShareOfParts(s, kBubblePart, kBubblePart);
       }},
      {"cost_per_token", "in the currency of the cluster file's section `cost`", kLess,
       [](const Summary& s) { return s.cost ? s.cost->token : std::nullopt; }, kNeedsPrice},
      {"cost_per_iteration", "the same, of an iteration", kLess,
       [](const Summary& s) { return s.cost ? s.cost->iteration : std::nullopt; }, kNeedsPrice},
      {"energy_per_token_j", "joules at the meter, from `cost: power`", kLess,
       [](const Summary& s) { return s.cost ? s.cost->token_joules : std::nullopt; },
       "'cost: power' in the cluster file"},
      {"gpus", "GPUs of the cluster", kNeither,
       [](const Summary& s) -> std::optional<double> { return s.cluster.ranks; }},
      {"hosts", "hosts of the cluster", kNeither,
       [](const Summary& s) -> std::optional<double> { return s.cluster.hosts; }},
  };
  return metrics;
}

Result<const Metric*> FindMetric(const std::string& name) {
  std::vector<std::string> names;
  for (const Metric& metric : Metrics()) {
    if (metric.name == name) return &metric;
    names.push_back(metric.name);
  }
  return Error(fmt::format("there is no metric '{}'{}; metrics are {}", name,
                           DidYouMean(name, names), Join(names)));
}

MetricValues ValuesOf(const Summary& summary) {
  MetricValues values;
  for (const Metric& metric : Metrics()) {
    if (const std::optional<double> value = metric.of(summary)) {
      values.emplace_back(metric.name, *value);
    }
  }
  return values;
}

MetricValues ValuesOf(const MemoryVerdict& memory) {
  return {{kMemory, Gigabytes(memory.total)}, {kMemoryShare, ShareOfMemory(memory)}};
}

std::string FigureText(double value) {
  const double size = std::abs(value);
  if (size < 1000) return fmt::format("{:.4g}", value);
  double unit = 1;
  while (size / unit >= 10'000) unit *= 10;
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::optional<double> ValueOf(const MetricValues& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace drydock
