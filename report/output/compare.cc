#include "report/output/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/output/summary_text.h"

namespace drydock {
namespace {

constexpr size_t kCallLines = 12;  // in the text; the page and the JSON have all

std::vector<ComparedTime> CompareCalls(const Summary& here, const Summary& there) {
  std::vector<ComparedTime> rows;
  std::map<std::string, size_t> index;
  const auto row_of = [&](const CollectiveRow& call) -> ComparedTime& {
    const auto [found, added] = index.try_emplace(call.Name(), rows.size());
    if (added) rows.push_back({call.Name(), std::nullopt, std::nullopt});
    return rows[found->second];
  };
  // Of several plans with one name, the first has the largest total.
  for (const CollectiveRow& call : here.collectives) {
    ComparedTime& row = row_of(call);
    if (!row.here) row.here = call.median;
  }
  for (const CollectiveRow& call : there.collectives) {
    ComparedTime& row = row_of(call);
    if (!row.there) row.there = call.median;
  }
  return rows;
}

void AddIfAny(std::vector<ComparedTime>* rows, std::string name, Time here, Time there) {
  if (here == Time() && there == Time()) return;
  rows->push_back({std::move(name), here, there});
}

std::string TimesText(const char* title, const std::vector<ComparedTime>& rows, size_t most) {
  if (rows.empty()) return "";
  std::string out =
      fmt::format("\n{:<44}{:>14}{:>14}{:>12}\n", title, "this run", "the base", "change");
  const size_t shown = std::min(most, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const ComparedTime& row = rows[i];
    out += fmt::format("  {:<42}{:>14}{:>14}{:>12}\n", row.name, ShownTime(row.here),
                       ShownTime(row.there), row.ChangeText());
  }
  return out + MoreInJson(rows.size(), shown, "call");
}

}  // namespace

Comparison Compare(const Summary& here, const Summary& there, const std::string& run) {
  Comparison out;
  out.run = run;
  out.what = fmt::format("{} on {}, {}, network {}", there.job.model, there.cluster.name,
                         there.job.layout, there.network.name);
  out.here = here.rates;
  out.there = there.rates;
  for (int i = 0; i < kPartCount; ++i) {
    const auto part = static_cast<size_t>(i);
    AddIfAny(&out.parts, PartName(i), here.parts[part].mean, there.parts[part].mean);
  }
  for (int i = 0; i < kPathPartCount; ++i) {
    const auto part = static_cast<size_t>(i);
    AddIfAny(&out.path, PathPartName(i), here.path.parts[part], there.path.parts[part]);
  }
  out.calls = CompareCalls(here, there);
  return out;
}

std::string ShownTime(const std::optional<Time>& time) { return time ? ToString(*time) : "none"; }

std::optional<double> ComparedTime::Change() const {
  if (!here || !there || *there <= Time()) return std::nullopt;
  return here->seconds() / there->seconds() - 1;
}

std::string ComparedTime::ChangeText() const {
  return Change() ? drydock::Change(there->seconds(), here->seconds()) : "";
}

std::string Change(double base, double value) {
  if (base <= 0) return "";
  return fmt::format("{:+.2f} %", (value / base - 1) * 100);
}

std::string ComparisonText(const Comparison& comparison) {
  const std::vector<ComparedTime> iteration = {
      {"iteration", comparison.here.iteration, comparison.there.iteration}};
  return fmt::format(
             "\ncompared with the base {}:\n  {}\n"
             "  changes are of the base; a positive change of a time says that this run is "
             "slower\n",
             comparison.run, comparison.what) +
         TimesText("time", iteration, 1) +
         TimesText("where it goes, mean of the ranks", comparison.parts, kPartCount) +
         TimesText("critical path", comparison.path, kPathPartCount) +
         TimesText("calls, median", comparison.calls, kCallLines);
}

}  // namespace drydock
