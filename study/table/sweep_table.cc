#include "study/table/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/check.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "study/table/csv.h"

namespace drydock {
namespace {

const Metric& MetricCalled(const std::string& name) {
  const Result<const Metric*> metric = FindMetric(name);
  CHECK(metric.ok());
  return **metric;
}

// Seven digits are more than any model behind a metric knows, and the same on every machine.
std::string NumberText(double value) { return fmt::format("{:.7g}", value); }

// True if `a` is better than `b`.
bool Better(const Metric& metric, double a, double b) {
  if (metric.better == Metric::Better::kNeither) return false;
  return metric.better == Metric::Better::kLess ? a < b : a > b;
}

std::vector<const SweepRow*> DoneRows(const SweepTable& table) {
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : table.rows) {
    if (row.record.state == PointState::kDone) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

std::string CsvOf(const SweepTable& table) {
  std::vector<std::string> heading = {"point"};
  heading.insert(heading.end(), table.axes.begin(), table.axes.end());
  heading.insert(heading.end(), {"state", "reason"});
  for (const Metric& metric : Metrics()) heading.push_back(metric.name);
  std::string text = CsvLine(heading);
  for (const SweepRow& row : table.rows) {
    std::vector<std::string> fields = {row.id};
    fields.insert(fields.end(), row.values.begin(), row.values.end());
    fields.insert(fields.end(), {StateName(row.record.state), row.record.reason});
    for (const Metric& metric : Metrics()) {
      const std::optional<double> value = ValueOf(row.record.metrics, metric.name);
      fields.push_back(value ? NumberText(*value) : "");
    }
    text += CsvLine(fields);
  }
  return text;
}

std::vector<const SweepRow*> Ranked(const SweepTable& table) {
  std::vector<const SweepRow*> rows = DoneRows(table);
  const Metric& metric = MetricCalled(table.metrics.front());
  const auto value = [&](const SweepRow* row) { return ValueOf(row->record.metrics, metric.name); };
  std::stable_sort(rows.begin(), rows.end(), [&](const SweepRow* a, const SweepRow* b) {
    const std::optional<double> left = value(a), right = value(b);
    if (!left || !right) return left.has_value() && !right.has_value();
    return Better(metric, *left, *right);
  });
  return rows;
}

std::vector<const SweepRow*> ParetoFront(const SweepTable& table, const std::string& first,
                                         const std::string& second) {
  const std::array<const Metric*, 2> metrics = {&MetricCalled(first), &MetricCalled(second)};
  std::vector<const SweepRow*> rows = DoneRows(table);
  const auto beats = [&](const SweepRow* a, const SweepRow* b) {
    bool better = false;
    for (const Metric* metric : metrics) {
      const std::optional<double> left = ValueOf(a->record.metrics, metric->name);
      const std::optional<double> right = ValueOf(b->record.metrics, metric->name);
      if (!left || !right || Better(*metric, *right, *left)) return false;
      better |= Better(*metric, *left, *right);
    }
    return better;
  };
  std::vector<const SweepRow*> front;
  for (const SweepRow* row : rows) {
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const SweepRow* other) { return beats(other, row); })) {
      front.push_back(row);
    }
  }
  return front;
}

std::vector<std::string> MissingMetrics(const SweepTable& table) {
  std::vector<std::string> lines;
  for (const std::string& name : table.metrics) {
    const Metric& metric = MetricCalled(name);
    size_t done = 0, known = 0;
    for (const SweepRow& row : table.rows) {
      if (row.record.state != PointState::kDone) continue;
      ++done;
      known += ValueOf(row.record.metrics, name).has_value();
    }
    if (done == 0 || known > 0 || metric.needs.empty()) continue;
    lines.push_back(fmt::format("no point has {}: it needs {}", name, metric.needs));
  }
  return lines;
}

std::string CountsText(const SweepTable& table) {
  std::array<size_t, 3> counts = {};
  for (const SweepRow& row : table.rows) ++counts[static_cast<size_t>(row.record.state)];
  std::vector<std::string> parts = {fmt::format("{} done", counts[0])};
  if (counts[1] > 0) parts.push_back(fmt::format("{} do not fit", counts[1]));
  if (counts[2] > 0) parts.push_back(fmt::format("{} refused", counts[2]));
  return fmt::format("{}: {}", Plural(table.rows.size(), "point"), Join(parts));
}

std::string TextOf(const SweepTable& table, size_t most) {
  std::vector<std::vector<std::string>> lines(1);
  for (const std::string& axis : table.axes) lines[0].push_back(axis);
  for (const std::string& metric : table.metrics) lines[0].push_back(metric);
  const std::vector<const SweepRow*> ranked = Ranked(table);
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i) {
    std::vector<std::string>& line = lines.emplace_back(ranked[i]->values);
    for (const std::string& metric : table.metrics) {
      const std::optional<double> value = ValueOf(ranked[i]->record.metrics, metric);
      line.push_back(value ? FigureText(*value) : "");
    }
  }
  std::string text = lines.size() > 1 ? AlignedText(lines) : "";
  if (ranked.size() > most) text += fmt::format("... {} more\n", ranked.size() - most);
  return Printable(text) + CountsText(table) + "\n";
}

}  // namespace drydock
