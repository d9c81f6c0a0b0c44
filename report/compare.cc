#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/page_parts.h"

namespace drydock {
namespace {

constexpr size_t kCallsShown = 12;

std::vector<ComparedTime> CompareCalls(const Summary& here, const Summary& there) {
  std::vector<ComparedTime> rows;
  std::map<std::string, size_t> index;
  const auto row_of = [&](const CollectiveRow& call) -> ComparedTime& {
    const auto [found, added] = index.try_emplace(call.Name(), rows.size());
    if (added) rows.push_back({call.Name(), Time(), Time()});
    return rows[found->second];
  };
  // Of one name with several plans, the costliest.
  for (const CollectiveRow& call : here.collectives) {
    ComparedTime& row = row_of(call);
    if (row.here == Time()) row.here = call.median;
  }
  for (const CollectiveRow& call : there.collectives) {
    ComparedTime& row = row_of(call);
    if (row.there == Time()) row.there = call.median;
  }
  return rows;
}

void AddIfAny(std::vector<ComparedTime>* rows, std::string name, Time here, Time there) {
  if (here == Time() && there == Time()) return;
  rows->push_back({std::move(name), here, there});
}

std::string TimesText(const char* title, const std::vector<ComparedTime>& rows, size_t most) {
  if (rows.empty()) return "";
  std::string out = fmt::format("\n{:<44}{:>14}{:>14}{:>12}\n", title, "this run", "the other", "");
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const ComparedTime& row = rows[i];
    out += fmt::format("  {:<42}{:>14}{:>14}{:>12}\n", row.name, ToString(row.here),
                       ToString(row.there), Change(row.here, row.there));
  }
  return out;
}

std::string TimesTable(const char* title, const std::vector<ComparedTime>& rows, size_t most) {
  Table table({Words(title), Number("this run"), Number("the other"), Number("change")});
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    table.Add({Words(rows[i].name), Number(ToString(rows[i].here)), Number(ToString(rows[i].there)),
               Number(Change(rows[i].here, rows[i].there))});
  }
  return std::move(table).Finish();
}

}  // namespace

Comparison Compare(const Summary& here, const Summary& there, const std::string& run) {
  Comparison out;
  out.run = run;
  out.what = fmt::format("{} on {}, {}, network {}", there.model, there.cluster, there.layout,
                         there.network);
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

std::string Change(Time here, Time there) {
  if (here <= Time()) return "";
  return fmt::format("{:+.2f} %", (there.seconds() / here.seconds() - 1) * 100);
}

std::string ComparisonText(const Comparison& comparison) {
  const std::vector<ComparedTime> iteration = {
      {"iteration", comparison.here.iteration, comparison.there.iteration}};
  return fmt::format("\ncompared with {}:\n  {}\n", comparison.run, comparison.what) +
         TimesText("time", iteration, 1) +
         TimesText("where it goes, mean of the ranks", comparison.parts, kPartCount) +
         TimesText("critical path", comparison.path, kPathPartCount) +
         TimesText("calls, median", comparison.calls, kCallsShown);
}

std::string ComparisonSection(const Comparison& comparison) {
  const Rates& here = comparison.here;
  const Rates& there = comparison.there;
  Table head({Words("run"), Number("this run"), Number("the other"), Number("change")});
  head.Add({Words("iteration time"), Number(ToString(here.iteration)),
            Number(ToString(there.iteration)), Number(Change(here.iteration, there.iteration))});
  head.Add({Words("tokens per second"), Number(fmt::format("{:.0f}", here.tokens_per_second)),
            Number(fmt::format("{:.0f}", there.tokens_per_second)),
            Number(fmt::format("{:+.1f} %",
                               (there.tokens_per_second / here.tokens_per_second - 1) * 100))});
  const auto mfu = [](const Rates& rates) { return rates.mfu ? Percent(*rates.mfu) : "unknown"; };
  head.Add({Words("MFU"), Number(mfu(here)), Number(mfu(there)), Number("")});
  return Section(
      "Compared with another run",
      fmt::format("The other: {}: {}.", comparison.run, comparison.what),
      std::move(head).Finish() +
          TimesTable("where the time goes, mean of the ranks", comparison.parts, kPartCount) +
          TimesTable("critical path", comparison.path, kPathPartCount) +
          TimesTable("call, median", comparison.calls, kCallsShown));
}

}  // namespace drydock
