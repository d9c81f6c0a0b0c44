#include "report/output/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/output/html_table.h"
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

std::string Shown(const std::optional<Time>& time) { return time ? ToString(*time) : "none"; }

std::string ChangeOf(const ComparedTime& row) {
  if (!row.here || !row.there) return "";
  return Change(row.here->seconds(), row.there->seconds());
}

std::string TimesText(const char* title, const std::vector<ComparedTime>& rows, size_t most) {
  if (rows.empty()) return "";
  std::string out = fmt::format("\n{:<44}{:>14}{:>14}{:>12}\n", title, "this run", "the other", "");
  const size_t shown = std::min(most, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const ComparedTime& row = rows[i];
    out += fmt::format("  {:<42}{:>14}{:>14}{:>12}\n", row.name, Shown(row.here), Shown(row.there),
                       ChangeOf(row));
  }
  return out + MoreInJson(rows.size(), shown, "call");
}

std::string TimesTable(const char* title, const std::vector<ComparedTime>& rows) {
  if (rows.empty()) return "";
  Table table({Words(title), Number("this run"), Number("the other"), Number("change")});
  for (const ComparedTime& row : rows) {
    table.Add({Words(row.name), Number(Shown(row.here)), Number(Shown(row.there)),
               Number(ChangeOf(row))});
  }
  return std::move(table).Finish();
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

std::string Change(double here, double there) {
  if (here <= 0) return "";
  return fmt::format("{:+.2f} %", (there / here - 1) * 100);
}

std::string ComparisonText(const Comparison& comparison) {
  const std::vector<ComparedTime> iteration = {
      {"iteration", comparison.here.iteration, comparison.there.iteration}};
  return fmt::format("\ncompared with {}:\n  {}\n", comparison.run, comparison.what) +
         TimesText("time", iteration, 1) +
         TimesText("where it goes, mean of the ranks", comparison.parts, kPartCount) +
         TimesText("critical path", comparison.path, kPathPartCount) +
         TimesText("calls, median", comparison.calls, kCallLines);
}

std::string ComparisonSection(const Comparison& comparison) {
  const Rates& here = comparison.here;
  const Rates& there = comparison.there;
  Table head({Words("run"), Number("this run"), Number("the other"), Number("change")});
  const auto change = [](double one, double other) { return Number(Change(one, other)); };
  head.Add({Words("iteration time"), Number(ToString(here.iteration)),
            Number(ToString(there.iteration)),
            change(here.iteration.seconds(), there.iteration.seconds())});
  head.Add({Words("tokens per second"), Number(fmt::format("{:.0f}", here.tokens_per_second)),
            Number(fmt::format("{:.0f}", there.tokens_per_second)),
            change(here.tokens_per_second, there.tokens_per_second)});
  const auto mfu = [](const Rates& rates) { return rates.mfu ? Percent(*rates.mfu) : "unknown"; };
  head.Add({Words("MFU"), Number(mfu(here)), Number(mfu(there)), Number("")});
  // One class aligns the columns of the tables.
  return Section("Compared with another run",
                 fmt::format("The other run: {}: {}.", comparison.run, comparison.what),
                 "<div class=\"alike\">" + std::move(head).Finish() +
                     TimesTable("where the time goes, mean of the ranks", comparison.parts) +
                     TimesTable("critical path", comparison.path) +
                     TimesTable("call, median", comparison.calls) + "</div>\n");
}

}  // namespace drydock
