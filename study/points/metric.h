// The figures of a point that a study compares.
#ifndef DRYDOCK_STUDY_POINTS_METRIC_H_
#define DRYDOCK_STUDY_POINTS_METRIC_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/memory_total.h"
#include "report/facts/summary.h"

namespace drydock {

struct Metric {
  enum class Better : uint8_t { kLess, kMore, kNeither };
  std::string name;     // "iteration_s": its unit is part of it, as in summary.json
  std::string meaning;  // for --help and the page
  Better better = Better::kNeither;
  std::optional<double> (*of)(const Summary& summary);
  std::string needs = "";  // what a point without it lacks, if that is known
};

// All of them, in the order of the columns.
const std::vector<Metric>& Metrics();

// The metric of this name. An unknown name is an error with the nearest one.
Result<const Metric*> FindMetric(const std::string& name);

// A name of Metrics() and the value, of those that a point has.
using MetricValues = std::vector<std::pair<std::string, double>>;
MetricValues ValuesOf(const Summary& summary);
// Of a point that does not fit and was not simulated.
MetricValues ValuesOf(const MemoryVerdict& memory);

// Four significant digits, without an exponent: "594800", "0.4837".
std::string FigureText(double value);

// The value of a metric; nothing if the point has none.
std::optional<double> ValueOf(const MetricValues& values, const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_POINTS_METRIC_H_
